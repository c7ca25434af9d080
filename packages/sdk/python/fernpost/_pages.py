from __future__ import annotations

from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Dict,
    Generator,
    Generic,
    Iterator,
    List,
    Optional,
    TypeVar,
)

Item = TypeVar("Item")
#: Reads the page of a list that begins at a place; the first one when it is empty.
ReadPage = Callable[[Dict[str, Any]], Any]
ReadPageAsync = Callable[[Dict[str, Any]], Awaitable[Any]]

# Names under which lists have their items; `data` where there are two.
_item_names = ("data", "events", "eventNames", "emails", "images", "activities", "types", "invoices")


class _PageBase(Generic[Item]):
    #: The items of this page.
    data: List[Item]
    #: Whether there is another page.
    has_more: bool
    #: Where the next page begins; None after the last one, and for lists whose pages have numbers.
    cursor: Optional[str]
    #: Items of all pages; None for lists that are not counted.
    total: Optional[int]
    #: The whole response, for lists that say more.
    reply: Any

    def __init__(self, reply: Any) -> None:
        fields: Dict[str, Any] = reply if isinstance(reply, dict) else {}
        self.reply = reply
        self.data = reply if isinstance(reply, list) else _items_of(fields)
        self._next = _next_place(fields)
        self.has_more = self._next is not None
        self.cursor = (self._next or {}).get("cursor")
        self.total = fields.get("total", len(self.data) if isinstance(reply, list) else None)


class Page(_PageBase[Item]):
    """The first page of a list. Iterating it goes through every item, page by page; `data` has those of this page."""

    def __init__(self, read: ReadPage, place: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(read(place or {}))
        self._read = read

    def next_page(self) -> Optional[Page[Item]]:
        """The page after this one; None after the last one."""
        return None if self._next is None else Page(self._read, self._next)

    def __iter__(self) -> Iterator[Item]:
        page: Optional[Page[Item]] = self
        while page is not None:
            yield from page.data
            page = page.next_page()


class AsyncPage(_PageBase[Item]):
    """A page of a list, for asyncio. Iterating it goes through its items and those of all later pages."""

    def __init__(self, reply: Any, read: ReadPageAsync) -> None:
        super().__init__(reply)
        self._read = read

    async def next_page(self) -> Optional[AsyncPage[Item]]:
        """The page after this one; None after the last one."""
        return None if self._next is None else AsyncPage(await self._read(self._next), self._read)

    async def __aiter__(self) -> AsyncIterator[Item]:
        page: Optional[AsyncPage[Item]] = self
        while page is not None:
            for item in page.data:
                yield item
            page = await page.next_page()


class AsyncPages(Generic[Item]):
    """A list. Awaited, its first page; iterated by `async for`, every item of all pages."""

    def __init__(self, read: ReadPageAsync) -> None:
        self._read = read

    async def _first(self) -> AsyncPage[Item]:
        return AsyncPage(await self._read({}), self._read)

    def __await__(self) -> Generator[Any, None, AsyncPage[Item]]:
        return self._first().__await__()

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for item in await self._first():
            yield item


def _items_of(fields: Dict[str, Any]) -> List[Any]:
    for name in _item_names:
        if isinstance(fields.get(name), list):
            items: List[Any] = fields[name]
            return items
    raise TypeError("The response is not a list.")


def _next_place(fields: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    cursor = fields.get("cursor", fields.get("nextCursor"))
    if isinstance(cursor, str) and fields.get("hasMore") is not False:
        return {"cursor": cursor}
    page, pages = fields.get("page"), fields.get("totalPages")
    return {"page": page + 1} if page is not None and pages is not None and page < pages else None
