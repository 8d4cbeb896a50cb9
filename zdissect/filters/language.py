"""The language of filters, for lark. A word is a name or a value: which, is decided by what it stands beside."""

LANGUAGE = r"""start: either

?either: both (_OR both)*               -> either
?both: unary (_AND unary)*              -> both
?unary: (NOT | BANG) unary              -> inverse
    | "(" either ")"
    | condition

?condition: operand                     -> present
    | [QUANTIFIER] operand COMPARISON operand               -> comparison
    | [QUANTIFIER] operand WORD_COMPARISON operand          -> comparison
    | [QUANTIFIER] operand [NOT] IN "{" member ("," member)* "}"  -> membership

member: value [RANGE value]

?operand: sliced
    | sliced "&" value                  -> masked
?sliced: primary
    | primary SLICE                     -> slice
?primary: value
    | WORD "(" operand ")"              -> call
value: WORD | QUOTED | RAW | CHARACTER

_OR.1: /\|\||or(?=[\s(!]|$)/
_AND.1: /&&|and(?=[\s(!]|$)/
NOT: "not"
BANG: "!"
IN.1: /in(?=[\s{]|$)/
QUANTIFIER.2: /(any|all)(?=\s)/
COMPARISON: "===" | "!==" | "==" | "!=" | "<=" | ">=" | "<" | ">" | "~"
WORD_COMPARISON.1: /(eq|ne|gt|lt|ge|le|contains|matches|intersects|includes|within)(?=[\s"']|$)/
RANGE: ".."
SLICE: /\[[^\[\]"'(){}]*\]/
RAW.3: /r"([^"\\]|\\.)*"/s
QUOTED: /"([^"\\]|\\.)*"/s
CHARACTER: /'([^'\\]|\\.)*'/s
WORD: /([^\s(){}\[\],"'=<>!~&|.]|\.(?!\.)|\|(?!\|))+/

%ignore /\s+/
"""
