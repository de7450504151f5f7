"""Quotients of sizes that bound loops are sizes of their own.

    for i in range(n // 3 * 3):          n_by_3 = n // 3
        y[i] = 2 * x[i]            ->    for i in range(3 * n_by_3):
                                             y[i] = 2 * x[i]

Where a loop ends at ``n // 3 * 3``, every question about it is one about whole numbers between two multiples of 3, and
what is asked of tiles would be asked of these in each of them. The number does not change while the loops run: it is
computed once, before them, and bounds are sums of sizes again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.other_loops import changed_order
from polyviz.model.expression import Binary, Constant
from polyviz.model.linear import written
from polyviz.model.scop import Parameter, ParameterSource
from polyviz.model.unused_names import unused_name

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.linear import Terms
    from polyviz.model.scop import Scop, Statement

_PARAMETER, _QUOTIENT = isl.dim_type.param, isl.dim_type.div
MOST_QUOTIENTS = 4
"""More of them in one part stay as they are: each is a size that everything later has to tell apart."""


def with_quotients_counted(scop: Scop, _known: Dependences) -> Scop:
    """``scop`` with a parameter for each quotient of sizes that bounds a statement; itself where there are none.

    >>> import polyviz as pv
    >>> part = pv.extract('''def f(y, n):
    ...     for i in range(n // 3 * 3):
    ...         y[i] = 2.0''')
    >>> counted = with_quotients_counted(part, pv.analysis.dependences(part))
    >>> print(counted.statements[0].domain, counted.context)
    [n, n_by_3] -> { S0[i] : 0 <= i < 3n_by_3 } [n, n_by_3] -> {  : -2 + n <= 3n_by_3 <= n }
    """
    found = dict.fromkeys(
        quotient
        for one in scop.statements
        for part in _parts(one.domain)
        for quotient, _ in _quotients(part).values()
    )
    if not 0 < len(found) <= MOST_QUOTIENTS:
        return scop
    taken = {one.name for one in scop.parameters} | {one.name for one in scop.arrays}
    taken |= {one.name for one in scop.arguments} | {name for one in scop.statements for name in one.iterators}
    names = dict[_Quotient, str]()
    for quotient in found:
        names[quotient] = unused_name(quotient.stem(), taken.__contains__)
        taken.add(names[quotient])
    return _Counting(scop, names).counted()


@dataclass(frozen=True, slots=True)
class _Quotient:
    """The largest whole number of ``divisor`` in a sum of sizes: ``factors`` by name, and a ``constant`` below it."""

    factors: tuple[tuple[str, int], ...]
    constant: int
    divisor: int

    def stem(self) -> str:
        """What a parameter for it may be called."""
        return "_".join((*(name for name, _ in self.factors), "by", str(self.divisor)))

    def terms(self) -> Terms:
        """The sum that is divided."""
        return {**dict(self.factors), "": self.constant}

    def parameter(self, name: str) -> Parameter:
        """The parameter called ``name`` that stands for it."""
        value = Binary("//", written(self.terms()), Constant(self.divisor))
        return Parameter(name, ParameterSource("expression", name, expression=value))

    def rest(self, name: str, space: isl.Space) -> isl.PwAff:
        """What the division leaves, in ``space``, where the quotient is called ``name``."""
        sizes = isl.LocalSpace.from_space(space.params())
        rest = isl.Aff.zero_on_domain(sizes).set_constant_val(isl.Val(self.constant))
        for size, factor in (*self.factors, (name, -self.divisor)):
            place = sizes.get_space().find_dim_by_name(_PARAMETER, size)
            rest = rest.set_coefficient_val(_PARAMETER, place, isl.Val(factor))
        return isl.PwAff.from_aff(rest)


def _parts(domain: isl.Set) -> list[isl.BasicSet]:
    return domain.compute_divs().get_basic_sets()


def _quotients(part: isl.BasicSet) -> dict[int, tuple[_Quotient, int]]:
    """The quotients of sizes in ``part`` by their place, each with what has to be added to it."""
    found = dict[int, tuple[_Quotient, int]]()
    places = part.get_local_space()
    for place in range(places.dim(_QUOTIENT)):
        value = places.get_div(place)
        quotients = range(value.dim(_QUOTIENT))
        inside = any(not value.get_coefficient_val(_QUOTIENT, one).is_zero() for one in quotients)
        if inside or value.involves_dims(isl.dim_type.in_, 0, value.dim(isl.dim_type.in_)):
            continue
        divisor = value.get_denominator_val()
        scaled = value.scale_val(divisor)
        sizes = {
            str(scaled.get_dim_name(_PARAMETER, one)): scaled.get_coefficient_val(_PARAMETER, one).to_python()
            for one in range(scaled.dim(_PARAMETER))
        }
        number = int(divisor.to_python())
        more, constant = divmod(int(scaled.get_constant_val().to_python()), number)
        factors = tuple((name, int(factor)) for name, factor in sizes.items() if factor)
        found[place] = _Quotient(factors, constant, number), more
    return found


@dataclass(frozen=True, slots=True)
class _Counting:
    """Puts parameters with ``names`` in the place of quotients."""

    scop: Scop
    names: dict[_Quotient, str]

    def counted(self) -> Scop:
        """The part with these parameters."""
        space = self._with_names(self.scop.context)
        context = space
        for quotient, name in self.names.items():
            rest = quotient.rest(name, space.get_space())
            zero = rest.sub(rest)
            last = zero.add_constant_val(isl.Val(quotient.divisor - 1))
            context = context.intersect(rest.ge_set(zero)).intersect(rest.le_set(last))
        statements = tuple(self._statement(one, context) for one in self.scop.statements)
        domains = {one.name: one.domain for one in statements}

        def row(name: str, _depth: int, old: isl.Map) -> isl.Map:
            return _within(old, self.scop.statement(name).domain, domains[name])

        listed = ", ".join(f"`{name}`" for name in self.names.values())
        note = f"Quotients of sizes that bound loops are computed once, before the loops: {listed}."
        return replace(
            self.scop,
            notes=(*self.scop.notes, note),
            statements=statements,
            parameters=(*self.scop.parameters, *(one.parameter(name) for one, name in self.names.items())),
            context=context,
            schedule=changed_order(self.scop, domains, row),
        )

    def _with_names(self, sizes: isl.Set) -> isl.Set:
        first = sizes.dim(_PARAMETER)
        wider = sizes.insert_dims(_PARAMETER, first, len(self.names))
        for place, name in enumerate(self.names.values(), first):
            wider = wider.set_dim_name(_PARAMETER, place, name)
        return wider

    def _statement(self, statement: Statement, context: isl.Set) -> Statement:
        old = statement.domain
        domain = self._domain(old).gist_params(context).align_params(context.get_space())
        accesses = tuple(one.mapped(lambda cells: _within(cells, old, domain)) for one in statement.accesses)
        return replace(statement, domain=domain, accesses=accesses)

    def _domain(self, domain: isl.Set) -> isl.Set:
        wider = self._with_names(domain)
        result = isl.Set.empty(wider.get_space())
        for part in _parts(wider):
            result = result.union(isl.Set.from_basic_set(self._equal(part)))
        return result.coalesce()

    def _equal(self, part: isl.BasicSet) -> isl.BasicSet:
        """``part`` where each of its quotients is equal to the parameter that stands for it: none is left then."""
        places, found = part.get_local_space(), part
        for place, (quotient, more) in _quotients(part).items():
            name = places.get_space().find_dim_by_name(_PARAMETER, self.names[quotient])
            equal = isl.Constraint.alloc_equality(places).set_constant_val(isl.Val(-more))
            equal = equal.set_coefficient_val(_QUOTIENT, place, isl.Val(1))
            found = found.add_constraint(equal.set_coefficient_val(_PARAMETER, name, isl.Val(-1)))
        return found


def _within(old: isl.Map, domain: isl.Set, counted: isl.Set) -> isl.Map:
    """What ``old`` says of the instances in ``domain``, said of the same in ``counted``."""
    return old.gist_domain(domain).intersect_domain(counted)
