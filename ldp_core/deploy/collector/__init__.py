"""Reports that came back, counted: files of reports in, answers with intervals out.

collection = collector.collect(["monday.parquet"], mechanism, design)      # validated, repeated ids dropped, in flat memory
collection + other                                                          # by day or shard, exact; a file or an id in both is refused
collector.answers(collection, mechanism, workload)                          # with intervals, beside what the design promised
collector.manipulation(mechanism, workload).share(users=10_000)                # forged reports that move the worst answer
"""

from ldp_core.deploy.collector import associating as associating
from ldp_core.deploy.collector import quantiles as quantiles
from ldp_core.deploy.collector import regressing as regressing
from ldp_core.deploy.collector.answering import KINDS as KINDS
from ldp_core.deploy.collector.answering import answers as answers
from ldp_core.deploy.collector.collection import Collection as Collection
from ldp_core.deploy.collector.collection import Read as Read
from ldp_core.deploy.collector.manipulated_reports import Manipulation as Manipulation
from ldp_core.deploy.collector.manipulated_reports import manipulation as manipulation
from ldp_core.deploy.collector.plausible import unlike_in_words as unlike_in_words
from ldp_core.deploy.collector.population import group_names as group_names
from ldp_core.deploy.collector.population import sizes_of as sizes_of
from ldp_core.deploy.collector.population import whose as whose
from ldp_core.deploy.collector.reading import collect as collect
from ldp_core.deploy.collector.reading import uploads_stay_in_memory as uploads_stay_in_memory
from ldp_core.deploy.collector.reasons import REASONS as REASONS
from ldp_core.deploy.collector.reasons import UnreadableReports as UnreadableReports
from ldp_core.deploy.collector.trying import release as release
from ldp_core.deploy.collector.trying import simulated as simulated
