"""A throw-away installation for measuring: a data folder that is gone afterwards, models that stay."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from opora.bootstrap.app import App
from opora.bootstrap.models import Models, make_models
from opora.chat.settings import checked
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.settings import Origin, resolve
from opora.evaluate.arms import Arms
from opora.evaluate.dataset import Passage
from opora.evaluate.load import load
from opora.evaluate.vectors import CachedEmbedder
from opora.ports import Reranker
from opora.settings import Settings


def default_work_folder() -> Path:
    """The platform's folder for what a user's programs may lose."""
    from platformdirs import user_cache_path

    return user_cache_path("opora", appauthor=False) / "eval"


class Bench:
    """The models of the settings, and as many bases as are asked for, each in an installation of its own."""

    def __init__(self, settings: Settings, embedder: CachedEmbedder | None, reranker: Reranker | None = None) -> None:
        self.settings = settings
        self.embedder = embedder
        self.reranker = reranker

    @asynccontextmanager
    async def arms(self, passages: Sequence[Passage], *, name: str = "eval") -> AsyncIterator[Arms]:
        """The arms of a base that holds the passages; the base is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="opora-eval-") as folder:
            here = self.settings.model_copy(update={"data": Path(folder), "api_key": None})
            app = await App.open(here, models=Models(embedder=self.embedder, chat=None))
            try:
                base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name=name)
                scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
                await load(
                    passages,
                    scope=scope,
                    base=base,
                    database=app._database,
                    engine=app._engine,
                    embedder=self.embedder,
                )
                yield Arms(
                    search=app.search,
                    scope=scope,
                    settings=resolve((Origin.INSTALLATION, checked(self.settings.retrieval))),
                    card=self.embedder.card if self.embedder is not None else None,
                    reranker=self.reranker,
                )
            finally:
                await app.close()


@asynccontextmanager
async def open_bench(settings: Settings, work: Path | None = None) -> AsyncIterator[Bench]:
    """The models of the settings, their vectors remembered in ``work``, which keeps what takes long to make."""
    async with AsyncExitStack() as stack:
        models = await make_models(settings.model_copy(update={"chat_url": ""}), stack)
        embedder = None
        if models.embedder is not None:
            await models.embedder.embed_query("ready?")
            embedder = CachedEmbedder(models.embedder, work or default_work_folder())
        yield Bench(settings, embedder, models.reranker)
