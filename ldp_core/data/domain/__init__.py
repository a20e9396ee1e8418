"""Domains: from records to type indices and back.

An attribute turns one column into a finite list of types, a `Domain` crosses several attributes into n types in
row-major order. All are frozen pydantic models: the same object encodes the data and travels in an exported
configuration, where it says for every part whether it was declared or taken from the data.
"""

from ldp_core.data.domain.attributes import CategoricalAttribute as CategoricalAttribute
from ldp_core.data.domain.attributes import Encoding as Encoding
from ldp_core.data.domain.attributes import Missing as Missing
from ldp_core.data.domain.attributes import Origin as Origin
from ldp_core.data.domain.attributes import build as build
from ldp_core.data.domain.attributes import check_size as check_size
from ldp_core.data.domain.combinations import ChoiceAttribute as ChoiceAttribute
from ldp_core.data.domain.combinations import CombinedAttribute as CombinedAttribute
from ldp_core.data.domain.combinations import CourseAttribute as CourseAttribute
from ldp_core.data.domain.combinations import RankingAttribute as RankingAttribute
from ldp_core.data.domain.dates import DateAttribute as DateAttribute
from ldp_core.data.domain.dates import Unit as Unit
from ldp_core.data.domain.numbers import Edge as Edge
from ldp_core.data.domain.numbers import NumericAttribute as NumericAttribute
from ldp_core.data.domain.numbers import RangeAttribute as RangeAttribute
from ldp_core.data.domain.numbers import attained_bins as attained_bins
from ldp_core.data.domain.numbers import bin_labels as bin_labels
from ldp_core.data.domain.numbers import regular_edges as regular_edges
from ldp_core.data.domain.numbers import whole_ends as whole_ends
from ldp_core.data.domain.product import Attribute as Attribute
from ldp_core.data.domain.product import Domain as Domain
