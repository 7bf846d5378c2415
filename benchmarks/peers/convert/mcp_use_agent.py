"""mcp-use's agent: its own adapter makes a LangChain tool whose arguments are a pydantic model, which checks them.

The model's package turns that tool into a definition; for OpenAI this is LangChain's own function.
"""

from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp.types import Tool
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter
from mcp_use.client.connectors.stdio import StdioConnector

PACKAGES = ("mcp-use", "langchain-core", "jsonschema-pydantic", "mcp")
DEFAULTS = ("openai",)
NOWHERE = StdioConnector(command="true", args=[])


def read(tool):
    return Tool.model_validate(tool)


def wrapped(tool):
    return LangChainAdapter()._convert_tool(tool, NOWHERE)


def openai():
    return lambda tool: convert_to_openai_tool(wrapped(tool))


def written(tool, values):
    """Calls as they are: nothing asks the model for another form."""
    return values


def returned(tool, answers):
    """What the agent's tool hands to the server of what the model wrote; nothing where its model refuses it."""
    made = wrapped(tool)
    out = []
    for each in answers:
        try:
            _, arguments = made._to_args_and_kwargs(each, None)
        except ValueError:  # pydantic's errors are such
            out.append([])
        else:
            out.append([dumped(arguments)])
    return out


def dumped(value):
    """Arguments as the client writes them into its request, which leaves out what is None in a model."""
    if hasattr(value, "model_dump"):
        return dumped(value.model_dump(mode="json", by_alias=True, exclude_none=True))
    if isinstance(value, dict):
        return {key: dumped(each) for key, each in value.items()}
    return [dumped(each) for each in value] if isinstance(value, list | tuple) else value


openai.written = written
openai.returned = returned
TARGETS = {"openai": openai}
