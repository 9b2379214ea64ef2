"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from pgcontext.contracts.faults import describe_faults
from pgcontext.contracts.fields import Request
from pgcontext.contracts.limits import Limits
from pgcontext.errors import InvalidArgument
from pgcontext.generation.generators import Generators
from pgcontext.principal import Principal
from pgcontext.settings import Settings
from pgcontext.storage.store import Store
from pgcontext.tools.offloading import run_off_loop

RequestT = TypeVar("RequestT", bound=Request)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """One call: who makes it, and what it may use."""

    store: Store
    caller: Principal
    settings: Settings
    limits: Limits
    generators: Generators


@dataclass(frozen=True, slots=True)
class Tool(Generic[RequestT]):
    """A tool as agents see it, and the use case behind it.

    `writes` bars the read-only principal; `is_destructive` and `is_idempotent` are the hints of the protocol.
    `feature` is what the setting ENABLE_... calls it, for a tool that such a setting leaves out.
    """

    name: str
    description: str
    request: type[RequestT]
    response: type[BaseModel]
    handle: Callable[[ToolContext, RequestT], Awaitable[dict[str, Any]]]
    writes: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False
    feature: str | None = None

    async def call(self, context: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the arguments and run the use case; `InvalidArgument` names every fault."""
        try:
            request = await run_off_loop(arguments, self._validate, arguments, context.limits)
        except ValidationError as error:
            raise InvalidArgument("\n".join(describe_faults(error))) from None
        return await self.handle(context, request)

    def _validate(self, arguments: Mapping[str, Any], limits: Limits) -> RequestT:
        return self.request.model_validate(arguments, context=limits)
