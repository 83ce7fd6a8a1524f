"""The bytes of pictures that came with questions, seen through the session of the user who asked."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from opora.domain.errors import NotFound
from opora.domain.pictures import Picture
from opora.domain.scope import Scope
from opora.store.connection import Connection
from opora.store.sessions import OF_USER, user_of
from opora.store.tables import message_images, messages, sessions

_c = message_images.c
_MINE = _c.message_id.in_(
    sa.select(messages.c.message_id).where(
        messages.c.session_id.in_(sa.select(sessions.c.session_id).where(OF_USER)),
    )
)


class SqlImages:
    """They go with their message: the database deletes them with it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, scope: Scope, message_id: str, pictures: Sequence[Picture]) -> None:
        """Call after the message was added, in the same transaction: that looked whose session it is."""
        rows = [
            {
                "message_id": message_id,
                "image_id": picture.image_id,
                "position": position,
                "media_type": picture.media_type,
                "data": picture.data,
            }
            for position, picture in enumerate(pictures)
        ]
        if rows:
            await self._connection.execute(sa.insert(message_images), rows)

    async def of_message(self, scope: Scope, message_id: str) -> tuple[Picture, ...]:
        query = sa.select(message_images).where(_c.message_id == sa.bindparam("wanted"), _MINE).order_by(_c.position)
        rows = await self._connection.execute(query.params(wanted=message_id, **user_of(scope)))
        return tuple(Picture(image_id=row.image_id, media_type=row.media_type, data=row.data) for row in rows)

    async def get(self, scope: Scope, message_id: str, image_id: str) -> Picture:
        query = sa.select(message_images).where(
            _c.message_id == sa.bindparam("wanted"), _c.image_id == sa.bindparam("image"), _MINE
        )
        row = (
            await self._connection.execute(query.params(wanted=message_id, image=image_id, **user_of(scope)))
        ).one_or_none()
        if row is None:
            raise NotFound("There is no such picture.", details={"image_id": image_id})
        return Picture(image_id=row.image_id, media_type=row.media_type, data=row.data)
