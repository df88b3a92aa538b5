"""The words in which developers ask for edits, English and French, without accents. Pure data."""

from __future__ import annotations

import re


def _table(words: dict[str, str]) -> dict[str, str]:
    return {word.replace("_", " "): key for key, listed in words.items() for word in listed.split()}


VERBS = _table({
    "rename": "mv git_mv rename renommer renomme renommez rebaptise rebaptiser rebaptisez",
    "call": "call name appelle appeler appelez appelons",
    "set": "set change update make switch adjust put turn modify edit fix pin default use have let give want "
           "mets met mettre mettez changer change changez fixer fixe fixez modifier modifie modifiez passer passe "
           "passez "
           "regler regle utilise utiliser utilisez faire fais faites rendre rends rendez definir definis ajuste "
           "ajuster "
           "basculer bascule configure configurer",
    "raise": "lift hike crank_up raise increase bump extend lengthen up upgrade grow augmenter augmente augmentez "
        "monter monte montez "
             "relever releve relevez allonger allonge lever leve",
    "lower": "lower decrease reduce cut shorten shrink downgrade limit cap restrict diminuer diminue diminuez baisser "
             "baisse baissez reduire reduis reduisez abaisser abaisse raccourcir raccourcis limiter limite limitez",
    "map": "map associate mapper associer associe",
    "add": "tack tack_on stick throw_in mention allow add append insert register include introduce define declare "
        "create allow support accept list ajouter "
        "ajoute "
           "ajoutez inserer insere inserez enregistrer enregistre declarer declare creer cree creez inclure inclus "
           "introduire introduis rajouter rajoute rajoutez",
    "import": "pull_in import importer importe importez",
    "remove": "strike lose bin rm uninstall take_away remove delete drop kill strip get_rid_of eliminate discard "
        "purge clear prune clean_up clean throw_away "
              "throw_out take_out take supprimer supprime supprimez enlever enleve enlevez retirer retire retirez "
              "virer vire "
              "effacer efface effacez oter ote nettoyer nettoie nettoyez",
    "move": "hoist pull move relocate transfer shift bring deplacer deplace deplacez bouger bouge bougez transferer "
        "transfere",
    "replace": "replace substitute swap exchange swap_out prefer convert remplacer remplace remplacez substituer "
               "substitue",
    "export": "export re-export reexport expose publish exporter exporte exportez exposer expose exposez reexporter "
              "re-exporter",
    "unexport": "stop_re-exporting stop_reexporting unexport hide stop_exporting",
    "require": "require need depend_on exiger exige exigez requerir requiers necessiter",
    "enable": "enable activate turn_on switch_on activer active activez",
    "disable": "disable deactivate turn_off switch_off desactiver desactive desactivez",
    "double": "double doubler doublez",
    "triple": "triple tripler",
    "halve": "halve diviser_par_deux divise_par_deux",
    "multiply": "multiply multiplier multiplie",
    "divide": "divide diviser divise",
    "increment": "increment incrementer incremente",
    "decrement": "decrement decrementer decremente",
    "annotate": "annotate type annoter annote annotez typer type",
    "document": "document documenter documente",
    "decorate": "decorate mark decorer decore marquer marque",
    "base": "derive subclass inherit extend deriver derive",
        "sort": "sort alphabetize alphabetise order trier trie triez ordonner ordonne",
    "adapt": "mend adapt reparer adapter",
    "correct": "spell correct reword rephrase reformulate corriger corrige corrigez reformuler reformule rewrite",
})  # fmt: skip
"""What verbs ask for."""

WHATS = _table(
    {
        "function": "function func fn def fonction helper callback",
        "method": "method methode getter accessor",
        "class": "class classe struct interface trait exception dataclass error erreur",
        "constant": "constant constante const",
        "variable": "variable var local",
        "parameter": "parameter parametre param argument arg keyword kwarg option",
        "attribute": "attribute attribut field champ property propriete",
        "member": "member membre variant",
        "enum": "enum enumeration",
        "module": "module package paquet submodule subpackage",
        "file": "file fichier",
        "key": "key cle setting reglage entry entree",
        "dict": "dict dictionary dictionnaire map mapping table object objet",
        "list": "list liste array tableau tuple set",
        "symbol": "symbol symbole alias identifier identifiant name nom",
    }
)
"""What a word says something is."""

OTHER_WHATS = _table({
    "value": "value valeur number nombre",
    "default": "default defaut",
    "import": "import imports importation importations",
    "decorator": "decorator decorators decorateur",
    "base": "base superclass parent base-class superclasse",
    "annotation": "annotation annotations type-hint hint hints",
    "type": "type",
    "text": "message text texte string chaine label title titre heading sentence phrase wording docstring "
        "description word "
            "mot typo spelling misspelling faute orthographe paragraph link lien url headline caption tagline summary",
    "comment": "comment commentaire",
    "dependency": "dependency dependance requirement prerequis",
    "version": "version",
    "line": "line ligne bullet item element",
    "script": "script command commande",
    "export": "export exports",
    "code": "code logic expression",
})  # fmt: skip

DETERMINERS = frozenset(
    "the a an this that these those its their our your my his some any all every each both le la les l' l un une des "
    "du de "
    "d' d ce cet cette ces son sa ses leur leurs notre nos votre tout tous toute toutes another new nouveau nouvel "
    "nouvelle "
    "quelques one".split()
)
FILLERS = frozenset(
    "just also simply really actually please now then again too still well existing current own whole only directly "
    "currently everywhere accordingly instead explicitly here there properly internally simplement aussi donc alors "
    "bien "
    "juste partout encore maintenant deja actuel actuelle existant existante directement in-place throughout already "
    "kindly better plainly private public internal main module-level global top-level old helper ancien ancienne "
    "prive privee "
    "back up down possible available accessible same such obsolete dead legacy redundant superfluous useless "
    "unneeded unnecessary unused "
    "inutilise inutilisee inutile mort morte obsoletes inutilises inutilisees stale leftover actual named called "
    "nomme nommee "
    "appele appelee keyword positional optional required mandatory python javascript project repo repository "
    "codebase code "
    "'s exactly always today plus long deprecated long-deprecated exported "
    "unexported extra first second third last legacy other same second-level sole "
    "single whole next minimum minimal minimale adapter together  anymore so alphabetically alphabetical "
    "alphabetique alphabetic alphabetiquement as-is as ok bit little generic builtin "
    "built-in utility union".split()
)
"""Words that change nothing in what a noun phrase names."""
UNITS = frozenset(
    "second seconds sec secs s ms millisecond milliseconds minute minutes min hour hours day days byte bytes kb mb "
    "gb kib mib "
    "character characters chars columns column times retries attempts percent pixels px lines items entries rows "
    "spaces "
    "seconde secondes heure heures jour jours octets octet caracteres fois lignes espaces characters' levels".split()
)
PRONOUNS = frozenset("it them this that one la le les l' l ca cela celle-ci celui-ci".split())
MARKERS: dict[tuple[str, ...], str] = {
    tuple(words.split()): role
    for role, listed in {
        "besides": "on top of|in addition to|besides|en plus de|en plus du",
        "to": "to|into|→|->|=>|⇒|to be|to become|vers|set to|equal to|changed to|up to|down to|jusqu' à|to read|to say",
        "à": "à|au|aux",
        "as": "as|comme|en|en tant que|en tant qu'",
        "is": "=|:=|equals|egal à",
        "from": "from|out of|depuis|off|off of",
        "of": "of",
        "de": "de|du|d'|d|des",
        "in": "in|inside|within|under|dans|inside of|at|sous",
        "on": "on|sur",
        "for": "for|pour",
        "with": "with|avec",
        "without": "without|sans",
        "by": "by|par",
        "old": "instead of|rather than|in place of|not|and not|but not|currently|was|au lieu de|au lieu d'|au lieu "
            "du|plutot que|"
               "plutot qu'|et non|et pas|et non pas|pas|a la place de|à la place de|à la place d'|over",
        "value": "with a value of|with value|with the value|avec la valeur|avec pour valeur|whose value is|valued|"
            "mapped to|"
                 "mapping to|pointing to|set at",
        "default": "with a default of|with default|with the default|with a default value of|default to|defaults to|"
            "defaulting to|"
                   "avec la valeur par defaut|with default value",
        "named": "called|named|nomme|nommee|appele|appelee|renamed to|renamed|renommee en|renomme en|known as",
        "before": "before|above|ahead of|avant|au-dessus de|au dessus de",
        "after": "after|below|behind|apres|next to|en dessous de|beside|right after",
        "like": "like|comme pour|similar to|alongside",
        "that": "that|which|who|whose|where|when|if|unless|while|so that|qui|que|dont|quand|si|lorsque|pour que|afin "
            "de|afin que|"
                "such that|in order to|until|unless|except",
    }.items()
    for words in listed.split("|")
}  # fmt: skip
"""Words that introduce a part of a clause, and the part's role."""
LONGEST_MARKER = max(len(words) for words in MARKERS)
REASONS = re.compile(
    r"(?:as (?!well)|because|since|so (?:that|it|we|the|people|users)|it is|it's|its name|that's|this is|this way|"
    r"they|we |which|nobody|"
    r"nothing|no one|there|in order|to (?:match|avoid|make|be consistent|align|keep|reflect|follow|stay|get|stop|"
    r"help|save|leave|give)|"
    r"for consistency|for clarity|for (?:slow|fast|big|large|small)|for readability|car |parce|puisque|on (?:ne|n'|"
    r"l'|a )|rien ne|"
    r"personne|plus (?:rien|personne)|c'est|cela|ca |ce sera|afin|comme ca|the (?:old|current|present|name|existing)|"
    r"l'ancien|"
    r"otherwise|like the others|like the other|some |most |many |people|users|i |it (?:has|was|does|doesn't|isn't|no|"
    r"hasn't|only|should)|"
    r"not used|unused|never used|no longer|and nothing|and nobody|n'est|is not|isn't|plus utilise|jamais|il |elle |"
    r"ils |elles )",
)
"""How the reason for a task begins, which says nothing of what to do."""
STATE = re.compile(
    r"(?:is|are|was|were|looks?|seems?|feels?|isn't|aren't|has|have|hasn't|does|doesn't|est|sont|n'est|ne|semble|n'a)\b"
)


NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen "
        "nineteen twenty".split(),
        2,
    )
} | {
    **{"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"},
    "hundred": "100",
}
"""Numbers in words."""
FRENCH_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze".split(), 2
    )
} | {"vingt": "20", "trente": "30", "quarante": "40", "cinquante": "50", "soixante": "60", "cent": "100"}
"""The same in French."""
ADJECTIVES = _table({
    "keyword_only": "keyword-only keyword_only kw-only kwonly kw_only keyword-argument-only nomme_uniquement",
    "positional_only": "positional-only positional_only",
    "required": "required mandatory obligatoire compulsory non-optional",
    "optional": "optional facultatif facultative optionnel optionnelle",
    "private": "private prive privee internal interne underscore-private",
    "public": "public publique",
    "exported": "importable exported exportable accessible reachable available exporte exportee disponible",
})  # fmt: skip
"""What `make X …` asks for."""
COMPLEMENTS: tuple[tuple[str, str], ...] = (
    (
        r"(?:only )?(?:be )?(?:given|passed|passes?|etre passee?s?|etre donnee?s?)(?: only)? (?:by keyword|as (?:a "
        r")?keyword|que par mot-cle|par mot-cle)\b",
        "by_keyword",
    ),
    (r"(?:be )?(?:given|passed) explicitly\b", "explicit"),
    (
        r"(?:be )?(?:called|named|renamed(?: to| into)?|s' ?appeler|etre (?:renommee?|appelee?|nommee?)(?: en)?|se "
        r"nommer)\b",
        "rename",
    ),
    (r"(?:be (?:gone|out)|go away|go|disappear|disparaitre|partir|sauter|not exist|vanish)$", "remove"),
    (
        r"(?:be moved(?: over)? (?:to|into)|live in|move (?:to|into)|go (?:in|into|to)|belong (?:in|to)|be in|sit in|"
        r"reside in|be defined in|"
        r"etre (?:deplacee?|definie?) dans|vivre dans|aller dans|se trouver dans|etre dans)\b",
        "move",
    ),
    (
        r"(?:(?:be )?(?:re-?exported|exported|importable|exposed|available|accessible|reachable)|etre (?:exportee?|"
        r"importable|accessible|"
        r"disponible|exposee?)|be part of (?:the |our )?public api)\b",
        "export",
    ),
    (
        r"(?:inherit(?: directly)? from|derive from|extend|subclass|be a subclass of|heriter (?:de|d')|deriver de|"
        r"etendre|be derived from)\b",
        "base",
    ),
    (r"(?:be )?(?:replaced|swapped|etre remplacee?)(?: out)?\b", "replace"),
    (r"(?:default to|be by default|valoir par defaut|etre par defaut)\b", "default"),
    (r"(?:read|say|dire|indiquer|be worded|be spelled)\b", "text"),
    (r"(?:raise|throw|lever|return|use|call|utiliser|renvoyer|retourner|appeler|log|emit)\b", "use"),
    (
        r"(?:(?:also )?(?:accept|take|have|get|include|contain|list|know|support|recognise|recognize|gain|grow|offer|"
        r"receive)|"
        r"accepter|prendre|avoir|contenir|inclure|connaitre|lister|comporter)\b",
        "have",
    ),
    (r"(?:require|need|depend on|exiger|demander|dependre de)\b", "require"),
    (r"(?:be )?(?:sorted|ordered|alphabetical|alphabetized|etre triee?s?)\b", "sort"),
    (r"(?:be )?(?:annotated|typed|etre annotee?)(?: as| with| with a)?\b", "annotate"),
)
"""How what should be so is said, in folded words, and what it asks for."""
MODALS: tuple[str, ...] = tuple(
    (
        "should|must|shall|ought to|needs to|need to|has to|have to|is supposed to|shouldn't|should not|mustn't|doit|"
        "devrait|doivent|devraient|ne devrait pas|ne doit pas|ne devrait plus|ne doit plus|could|can|may|"
        "doesn't need to|had better|would better|is to|are to|shall|will|is supposed to|may|wants to|want to|gets to|"
        "ought|"
        "has better|shan't|no longer needs to"
    ).split("|")
)
"""Words after which a clause says what should be so."""
