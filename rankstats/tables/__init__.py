"""What flows: judgments, rankings, hits, scores and the query table."""

from rankstats.tables.hits import Hits, TopLists
from rankstats.tables.judgments import Judgments, Source
from rankstats.tables.ranking import Ranking
from rankstats.tables.scores import MeasureInfo, Queries, Scores

__all__ = ["Hits", "Judgments", "MeasureInfo", "Queries", "Ranking", "Scores", "Source", "TopLists"]
