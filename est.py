import gzip,json
tools=[json.loads(l) for l in gzip.open('/work/shared/corpus/tools.jsonl.gz','rt')]
print(len(tools))
BAD={"allOf","oneOf","not","if","then","else","patternProperties","propertyNames","minProperties","maxProperties","contains","uniqueItems","minLength","maxLength","prefixItems"}
def walk(s,ext, opt):
    if s is True or s=={}: return False
    if not isinstance(s,dict): return False
    t=s.get('type'); t=t if isinstance(t,list) else [t]
    if 'object' in t or 'properties' in s:
        p=s.get('properties') or {}
        if not p and s.get('additionalProperties') is not False and ext!='root': return False
        ap=s.get('additionalProperties')
        if isinstance(ap,dict) or ap is True: return False
        if ext=='strict' and ap is not False: return False
        if opt and any(k not in (s.get('required')or[]) for k in p): return False
        return all(walk(v,ext,opt) for v in p.values())
    if BAD & s.keys(): return False
    if 'anyOf' in s: return all(walk(v,ext,opt) for v in s['anyOf'])
    if 'array' in t: return walk(s.get('items'),ext,opt)
    return True
n=len(tools)
for ext in ('ok','strict'):
  for opt in (True,False):
    c=sum(1 for t in tools if isinstance(t['tool'].get('inputSchema'),dict) and walk(t['tool']['inputSchema'],ext,opt))
    print(ext,opt,c/n)
