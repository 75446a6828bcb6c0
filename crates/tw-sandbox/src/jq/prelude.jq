# What jq has and jaq has not, or has otherwise. A later definition hides an earlier one of the same name.

# Texts
def ltrimstr($x):
  if type == "string" and ($x | type) == "string" and startswith($x) then .[$x | length:] end;
def rtrimstr($x):
  if type == "string" and ($x | type) == "string" and $x != "" and endswith($x) then .[:length - ($x | length)] end;
def trimstr($x): ltrimstr($x) | rtrimstr($x);
def join($x):
  reduce .[] as $i (null;
    (if . == null then "" else . + $x end) + ($i | if type == "boolean" or type == "number" then tojson else . // "" end)
  ) // "";
def ascii:
  if type == "number" and . >= 0 and . <= 127 then [floor] | implode
  else error("ascii takes a number from 0 to 127") end;
def __replace($from; $to): . / $from | join($to);

# Regular expressions, also as `[re, flags]` and with `null` for no flags
def __test(re; flags): test(re; flags | . // "");
def __match(re; flags): match(re; flags | . // "");
def __capture(re; flags): capture(re; flags | . // "");
def __scan(re; flags): scan(re; flags | . // "");
def __sub(re; f; flags): sub(re; f; flags | . // "");
def __gsub(re; f; flags): gsub(re; f; flags | . // "");
def test(re; flags): __test(re; flags);
def match(re; flags): __match(re; flags);
def capture(re; flags): __capture(re; flags);
def scan(re; flags): __scan(re; flags);
def sub(re; f; flags): __sub(re; f; flags);
def gsub(re; f; flags): __gsub(re; f; flags);
def test($re): if $re | type == "array" then test($re[0]; $re[1]) else test($re; null) end;
def match($re): if $re | type == "array" then match($re[0]; $re[1]) else match($re; null) end;
def capture($re): if $re | type == "array" then capture($re[0]; $re[1]) else capture($re; null) end;
def scan($re): if $re | type == "array" then scan($re[0]; $re[1]) else scan($re; null) end;

# Paths: what is on the way and absent is made, as jq does
def setpath($path; $x):
  if $path == [] then $x
  else
    $path[0] as $key | $path[1:] as $rest |
    if . == null or type == "object" and ($key | type) == "string" or type == "array" and ($key | type) == "number" then
      if $key | type == "string" then . + {($key): (.[$key]? | setpath($rest; $x))}
      elif $key | type == "number" then
        (. // []) | (if $key < 0 then length + $key else $key end) as $at |
        if $at < 0 then error("Out of bounds negative array index")
        elif $at < length then (.[$at] | setpath($rest; $x)) as $new | .[$at] = $new
        else . + [range($at - length) | null] + [null | setpath($rest; $x)] end
      else error("Invalid path component") end
    else (getpath([$key]) | setpath($rest; $x)) as $new | .[$key] = $new end
  end;
def __delpath($path):
  if . == null then .
  elif $path == [] then null
  elif ($path | length) > 1 then
    $path[0] as $key | (getpath([$key]) | __delpath($path[1:])) as $new |
    if getpath([$key]) == null then . else .[$key] = $new end
  else
    $path[0] as $key |
    if type == "array" and ($key | type) == "number" and ($key >= length or $key < -length) then .
    else .[$key] |= empty end
  end;
def delpaths($paths): reduce ($paths | sort | reverse[]) as $path (.; __delpath($path));
def del(f): delpaths([path(f)]);
def pick(f): . as $all | reduce path(f) as $path (null; setpath($path; $all | getpath($path)));
def leaf_paths: paths(scalars);
def walk(f):
  def rec: if type == "object" then map_values(rec) elif type == "array" then map(rec) end | f;
  rec;
def recurse_down: recurse;

# Streams
def tostream:
  path(def rec: (.[]? | rec), .; rec) as $path | getpath($path) |
  reduce path(.[]?) as $last ([$path, .]; [$path + $last]);
def fromstream(f):
  { x: null, e: false } as $init |
  foreach f as $i ($init;
    if .e then $init end |
    if $i | length == 2
    then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
    else setpath(["e"]; $i[0] | length == 1) end;
    if .e then .x else empty end
  );
def truncate_stream(stream):
  . as $depth | null | stream | select((.[0] | length) > $depth) | setpath([0]; .[0][$depth:]);

# Objects and arrays
def from_entries:
  reduce .[] as $entry ({};
    . + {
      ($entry | if .key == null then .k // .name // .Name // .K // .Key else .key end |
        if type == "string" then . else tojson end):
      ($entry | if has("value") then .value elif has("v") then .v else .Value end)
    });
def with_entries(f): to_entries | map(f) | from_entries;
def toarray: if type == "array" then . else [.] end;
def isvalid(f): try (f | true) catch false;

# As in SQL
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def INDEX(stream; f): reduce stream as $row ({}; . + {($row | f | tostring): $row});
def INDEX(f): INDEX(.[]; f);
def JOIN($index; f): [.[] | [., $index[f]]];
def JOIN($index; stream; f): stream | [., $index[f]];
def JOIN($index; stream; f; join): stream | [., $index[f]] | join;

# Numbers and dates
def have_literal_numbers: true;
def have_decnum: false;
def gamma: lgamma;
def date: todate;
def dateadd(unit; n): . + n;
def datesub(unit; n): . - n;

# Formats
def __row(format; f):
  if type == "array" then map(f) else error("\(tojson) cannot be \(format)-formatted, only an array can be") end;
def @csv:
  __row("csv";
    if type == "number" or type == "boolean" then tojson
    elif type == "string" then "\"" + __replace("\""; "\"\"") + "\""
    elif . == null then ""
    else error("\(tojson) is not valid in a csv row") end
  ) | join(",");
def @tsv:
  __row("tsv";
    if type == "number" or type == "boolean" then tojson
    elif type == "string" then
      __replace("\\"; "\\\\") | __replace("\t"; "\\t") | __replace("\n"; "\\n") | __replace("\r"; "\\r")
    elif . == null then ""
    else error("\(tojson) is not valid in a tsv row") end
  ) | join("\t");
def @html: tostring | escape_html | __replace("&apos;"; "&#39;");
def @base32: tostring | encode_base32;
def @base32d: tostring | decode_base32;
def format($name):
  if $name == "text" then @text
  elif $name == "json" then @json
  elif $name == "csv" then @csv
  elif $name == "tsv" then @tsv
  elif $name == "html" then @html
  elif $name == "uri" then @uri
  elif $name == "sh" then @sh
  elif $name == "base64" then @base64
  elif $name == "base64d" then @base64d
  elif $name == "base32" then @base32
  elif $name == "base32d" then @base32d
  else error("\($name | tojson) is not a valid format") end;
