"""Beliefs about one person after reports: with any mechanism (`limits`), and with a given one about a type (`reports`)."""

from ldp_core.beliefs.limits import best_guess as best_guess
from ldp_core.beliefs.limits import blind_guess as blind_guess
from ldp_core.beliefs.limits import over_epsilon as over_epsilon
from ldp_core.beliefs.limits import strongest as strongest
from ldp_core.beliefs.memory import losses as losses
from ldp_core.beliefs.memory import memory_in_words as memory_in_words
from ldp_core.beliefs.reports import Exposure as Exposure
from ldp_core.beliefs.reports import exposure as exposure
from ldp_core.beliefs.sentences import at_most as at_most
from ldp_core.beliefs.sentences import base_of as base_of
from ldp_core.beliefs.sentences import belief_in_words as belief_in_words
from ldp_core.beliefs.sentences import exposure_in_words as exposure_in_words
from ldp_core.beliefs.sentences import guess_in_words as guess_in_words
from ldp_core.beliefs.sentences import out_of as out_of
from ldp_core.beliefs.sentences import percent as percent
from ldp_core.beliefs.sentences import secret_in_words as secret_in_words
