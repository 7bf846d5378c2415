"""Orders to a model in other languages than English: the commonest forms of those that many people write.

Texts are folded before they are searched, and so are the rows in Cyrillic. Chinese and Japanese have no blanks, so
their anchors are within longer words.
"""

from __future__ import annotations

from typing import Final

from toolbridge.lint.confusables import folded
from toolbridge.lint.rules.safety_search import Phrase

_GERMAN_USER: Final = r"(?:benutzer|nutzer|anwender|user)(?:in|innen|n|s)?"
_FRENCH_USER: Final = r"(?:l |aux |les )utilisateurs?"
_SPANISH_USER: Final = r"(?:usuario|cliente)s?"
_CHINESE_USER: Final = r"(?:用户|用戶|使用者|客户|客戶)"
_CHINESE_NOT: Final = r"(?:不要|别|別|请勿|請勿|切勿|不得|不能|不可|禁止|绝不)"

_RUSSIAN_OVERRIDE: Final = folded(
    "(?:игнорируй(?:те)?|забудь(?:те)?) (?:(?:все|свои|твои|ваши) ){0,2}(?:предыдущие |прежние |системные )?"
    "(?:инструкции|указания|правила)"
)
_RUSSIAN_CONCEAL: Final = folded(
    "не (?:говори|сообщай|рассказывай|показывай|упоминай)(?:те)? (?:об этом |это |ничего )?пользовател"
)

OVERRIDES_ABROAD: Final = (
    Phrase(
        "tells the model to set its instructions aside",
        (("ignora", "ignorier", "ignore", "vergiss", "vergessen", "missachte", "oubli", "olvid", "descart", "esque",
          "dimentica", folded("игнорир"), folded("забудь"), "忽略", "忽视", "忽視", "无视", "無視", "忘记", "忘掉",
          "忘れ", "무시"),
         ("instruc", "instruç", "instrukt", "anweisung", "vorgabe", "regel", "regl", "règle", "reglas", "regras",
          "regole", "consigne", "istruzion", "alles", folded("инструкц"), folded("указани"), folded("правила"),
          "指令", "指示", "提示", "命令", "规则", "規則", "지시")),
        r"\b(?:ignor(?:a|e|ar)|olvid(?:a|e|ar)|descart(?:a|e)) (?:todas )?las (?:instrucciones"
        r"|reglas) (?:anteriores|previas)"
        r"|\b(?:ignor(?:a|e|ar)|olvid(?:a|e|ar)|descart(?:a|e)) (?:todas )?(?:tus|sus) (?:instrucciones|reglas)"
        r"|\b(?:ignora|olvida) instrucciones (?:anteriores|previas)"
        r"|\b(?:ignorieren? (?:sie )?|vergiss |vergessen sie |missachte )(?:alle[s]? )?(?:(?:die|deine|ihre|was) )?"
        r"(?:(?:vorherigen|bisherigen|vorigen|früheren|obigen|vorangegangenen) )(?:anweisungen|instruktionen|vorgaben"
        r"|regeln)"
        r"|\b(?:ignorieren? (?:sie )?|vergiss |vergessen sie |missachte )(?:alle )?(?:deine|ihre) (?:anweisungen"
        r"|instruktionen|vorgaben|regeln)"
        r"|\b(?:ignore[rz]?|oublie[rz]?) (?:toutes )?(?:les )?(?:instructions|consignes|règles) (?:précédentes"
        r"|antérieures|ci dessus)|\b(?:ignore[rz]?|oublie[rz]?) (?:toutes )?(?:tes|vos) (?:instructions|consignes"
        r"|règles)"
        r"|\b(?:ignora(?:re)?|dimentica) (?:tutte )?le (?:istruzioni|regole) precedenti"
        r"|\b(?:ignora(?:re)?|dimentica) (?:tutte )?le tue (?:istruzioni|regole)"
        r"|\b(?:ignore|esqueça) (?:todas )?as (?:suas )?(?:instruções|regras) (?:anteriores|prévias)"
        r"|\b(?:ignore|esqueça) (?:todas )?as suas (?:instruções|regras)"
        rf"|{_RUSSIAN_OVERRIDE}"
        r"|(?:忽略|忽视|忽視|无视|無視|忘记|忘掉)(?:掉|你|您|所有|全部|一切|之前|以前|先前|以上|上述|前面|系统|系統|的){1,6}"
        r"(?:指令|指示|提示词|提示|命令|规则|規則)"
        r"|(?:以前|前|上記|これまで|すべて|あなた)の(?:すべての)?(?:指示|命令)を(?:無視|忘れ)"
        r"|이전(?:의)?[\W_]{0,3}(?:모든[\W_]{0,3})?지시(?:를|사항을)?[\W_]{0,3}무시",
    ),
)  # fmt: skip

CONCEALMENTS_ABROAD: Final = (
    Phrase(
        "tells the model to keep something from the user",
        (("nutzer", "anwender", "user"), ("sag", "erwähn", "informier", "verrat", "zeig", "ohne", "verheimlich",
          "verschweig", "verbirg", "teil", "darf", "soll", "muss")),
        rf"\b(?:sage?|sagen sie|verrate?|verraten sie|erzähle?|zeige?|zeigen sie) (?:(?:das|dies|es|davon"
        rf"|hiervon) )?(?:dem|der"
        rf"|den) {_GERMAN_USER} (?:(?:das|dies|es|davon|hiervon|darüber) )?(?:nicht|nichts|nie|niemals)\b"
        rf"|\b(?:informiere?|informieren sie|benachrichtige?) (?:den|die) {_GERMAN_USER} (?:(?:darüber|hierüber"
        rf"|davon) )?"
        r"(?:nicht|nie|niemals)\b"
        rf"|\berwähn(?:e|en sie)? (?:WORD ){{1,3}}(?:nicht|nie|niemals)? ?gegenüber (?:dem|der|den) {_GERMAN_USER}\b"
        rf"|\bohne (?:den|die|dem|der) {_GERMAN_USER} (?:(?:darüber|davon|etwas) )?(?:zu (?:informieren"
        rf"|benachrichtigen)"
        r"|etwas zu sagen|davon zu erzählen|bescheid zu (?:geben|sagen))\b"
        rf"|\bohne (?:das )?wissen (?:des|der) {_GERMAN_USER}\b|\bohne dass (?:der|die) {_GERMAN_USER} (?:es|davon"
        rf"|das|dies|etwas)"
        r" (?:merkt|weiß|erfährt|bemerkt|mitbekommt)\b"
        rf"|\b(?:verheimliche?|verschweige?|verbirg) (?:(?:das|dies|es) )?(?:vor )?(?:dem|der|den) {_GERMAN_USER}\b"
        rf"|\b(?:der|die) {_GERMAN_USER} (?:darf|dürfen|soll|sollen) (?:(?:das|dies|es|davon|hiervon) )?(?:nicht"
        rf"|nichts|nie) "
        r"(?:davon )?(?:wissen|erfahren|bemerken|mitbekommen)\b",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (("utilisateur", "usuario", "usuário", "utente", "utenti"), ("ne", "sans", "insu", "no", "sin", "não", "sem",
          "non", "senza", "n'")),
        r"\b(?:ne|n) (?:(?:le|en|l|lui) )?(?:dis|dites|mentionne[zr]?|révèle|révélez|révéler|montre[zr]?"
        r"|informe[zr]?|parle[zr]?"
        rf"|préviens|prévenez|avertis) (?:pas|rien|jamais) (?:(?:cela|ceci|ça|de|cette|étape|à"
        rf"|rien) ){{0,4}}{_FRENCH_USER}\b"
        rf"|\bsans (?:en )?(?:informer|prévenir|avertir|le dire à|rien dire à|en parler à) {_FRENCH_USER}\b"
        r"|\bà l insu de l utilisateur\b|\bsans que l utilisateur (?:le |ne )?(?:sache|s en aperçoive|remarque)"
        r"|\bno (?:se )?(?:le |lo |les )?(?:digas?|cuentes?|menciones?|informes?|muestres?|reveles?|avises?"
        r"|notifiques?)"
        rf" (?:(?:esto|nada|eso|de|este|paso|lo) ){{0,3}}al? (?:los )?{_SPANISH_USER}\b"
        rf"|\bsin (?:informar(?:le)?|avisar(?:le)?|decir(?:le|selo)?|notificar(?:le)?"
        rf"|decir nada) al? (?:los )?{_SPANISH_USER}\b"
        r"|\bsin que (?:el|los) usuarios? (?:lo |se )?(?:sepan?|noten?|enteren?|den? cuenta)\b"
        r"|\bnão (?:conte|diga|mencione|informe|mostre|revele|avise) (?:(?:isto|isso|nada|sobre) ){0,3}(?:ao"
        r"|o) usuário\b"
        r"|\bsem (?:informar|avisar|contar|dizer|notificar) (?:nada )?(?:ao|o) usuário\b"
        r"|\bnon (?:dire|dirlo|menzionare|informare|mostrare|rivelare|avvisare) (?:(?:questo|ciò|nulla|niente) ){0,2}"
        r"(?:all|l|agli|gli) utent[ei]\b|\bsenza (?:dirlo|informare|avvisare|dire nulla|dire niente) (?:all|l|agli"
        r"|gli) utent[ei]\b",
    ),
    Phrase(
        "tells the model to keep something from the user",
        (("用户", "用戶", "使用者", "客户", "客戶", "ユーザー", "사용자", folded("пользовател")),),
        rf"{_CHINESE_NOT}(?:告诉|告訴|告知|通知){_CHINESE_USER}"
        rf"|{_CHINESE_NOT}(?:将|把)?(?:此|这|這|该)?(?:事|件事|步骤|操作|信息)?(?:向|对|對|让|讓){_CHINESE_USER}(?:提及|提到|透露"
        r"|说明|說|说|解释|知道|看到|发现|察觉)"
        rf"|(?:瞒着|瞞著|背着){_CHINESE_USER}|{_CHINESE_USER}不知情|(?:对|對|向){_CHINESE_USER}(?:保密|隐瞒|隱瞞)"
        r"|ユーザーに(?:は|これを|このことを|何も)?(?:言わないで|知らせないで|伝えないで|教えないで|言うな|知らせるな|伝えるな|内緒|秘密)"
        r"|사용자에게[\W_]{0,3}(?:이[\W_]{0,2}사실을[\W_]{0,3})?(?:알리지|말하지)[\W_]{0,3}(?:마|말)"
        rf"|{_RUSSIAN_CONCEAL}",
    ),
)  # fmt: skip
