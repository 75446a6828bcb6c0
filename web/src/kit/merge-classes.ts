/**
 * What a class of Tailwind sets, by the beginning of its name. Only what our own parts let others say anew is here; the full
 * table of all classes would be a tenth of the first load.
 */
const GROUPS: [group: string, pattern: RegExp][] = [
  [
    'display',
    /^(block|inline|inline-block|flex|inline-flex|grid|inline-grid|hidden|contents|table)$/,
  ],
  ['position', /^(static|fixed|absolute|relative|sticky)$/],
  ['text-align', /^text-(left|center|right|justify|start|end)$/],
  ['font-size', /^text-(xs|sm|base|lg|\d?xl|\[[\d.]+(rem|px|em)\])$/],
  ['text-wrap', /^text-(wrap|nowrap|balance|pretty)$/],
  ['color', /^text-/],
  ['font-family', /^font-(mono|sans|serif)$/],
  ['font-weight', /^font-/],
  ['background-image', /^bg-(none|linear|radial|conic)/],
  ['background', /^bg-/],
  ['border-width', /^border(-\d+)?$/],
  ['border-style', /^border-(solid|dashed|dotted|double|hidden|none)$/],
  ['border-$1', /^border-([xytrbl])(?:-\d+)?$/],
  ['border-color-$1', /^border-([xytrbl])-/],
  ['border-collapse', /^border-(collapse|separate)$/],
  ['border-color', /^border-/],
  ['rounded-$1', /^rounded-([trbl]{1,2})(?:-|$)/],
  ['rounded', /^rounded(-|$)/],
  ['flex', /^flex-(\d+|auto|initial|none)$/],
  ['flex-direction', /^flex-(row|col)(-reverse)?$/],
  ['flex-wrap', /^flex-(wrap|nowrap|wrap-reverse)$/],
  ['$1', /^(grow|shrink)(?:-|$)/],
  ['overflow-wrap', /^wrap-(anywhere|break-word|normal)$/],
  ['word-break', /^break-(normal|words|all|keep)$/],
  ['text-decoration', /^(underline|overline|line-through|no-underline)$/],
  ['transition', /^transition(-|$)/],
  ['overflow-$1', /^overflow-([xy])-/],
  [
    '$1',
    /^(min-w|min-h|max-w|max-h|gap-x|gap-y|col-span|row-span|grid-cols|justify-items|justify-self|self|justify|items|content|place-items|line-clamp|whitespace|overflow|opacity|order|basis|align|translate-x|translate-y|leading|tracking|cursor|shadow|size|gap|inset-x|inset-y|inset|top|right|bottom|left|z|p[xytrbl]?|m[xytrbl]?|w|h)-/,
  ],
]

/** What a class says in one word and others say in parts. */
const PARTS: Record<string, string[]> = {
  p: ['px', 'py', 'pt', 'pr', 'pb', 'pl'],
  px: ['pr', 'pl'],
  py: ['pt', 'pb'],
  m: ['mx', 'my', 'mt', 'mr', 'mb', 'ml'],
  mx: ['mr', 'ml'],
  my: ['mt', 'mb'],
  rounded: ['t', 'r', 'b', 'l', 'tl', 'tr', 'bl', 'br'].map((side) => `rounded-${side}`),
  size: ['w', 'h'],
  gap: ['gap-x', 'gap-y'],
  inset: ['inset-x', 'inset-y', 'top', 'right', 'bottom', 'left'],
  'inset-x': ['right', 'left'],
  'inset-y': ['top', 'bottom'],
  flex: ['basis', 'grow', 'shrink'],
  'border-color': [
    'border-color-x',
    'border-color-y',
    'border-color-t',
    'border-color-r',
    'border-color-b',
    'border-color-l',
  ],
  'border-width': ['border-x', 'border-y', 'border-t', 'border-r', 'border-b', 'border-l'],
  overflow: ['overflow-x', 'overflow-y'],
  'line-clamp': ['display', 'overflow'],
  'font-size': ['leading'],
}

const known = new Map<string, string | undefined>()

/** What a class sets, behind its variants: `sm:hover:px` for `sm:hover:-px-2`. */
function groupOf(name: string): string | undefined {
  if (known.has(name)) return known.get(name)
  // A colon between brackets is no variant.
  const cut = name.replace(/\[[^\]]*\]/g, (part) => '_'.repeat(part.length)).lastIndexOf(':') + 1
  const [variants, base] = [name.slice(0, cut), name.slice(cut).replace(/^[-!]+/, '')]
  let group: string | undefined
  for (const [word, pattern] of GROUPS) {
    const found = pattern.exec(base)
    if (!found) continue
    group = variants + word.replace('$1', found[1] ?? '')
    break
  }
  known.set(name, group)
  return group
}

const merged = new Map<string, string>()

/** Classes without those that a later one contradicts. */
export function mergeClasses(classes: string): string {
  const before = merged.get(classes)
  if (before !== undefined) return before
  const taken = new Set<string>()
  const kept: string[] = []
  for (const name of classes.split(/\s+/).filter(Boolean).reverse()) {
    const group = groupOf(name)
    if (group !== undefined) {
      if (taken.has(group)) continue
      const cut = group.lastIndexOf(':') + 1
      taken.add(group)
      for (const part of PARTS[group.slice(cut)] ?? []) taken.add(group.slice(0, cut) + part)
    }
    kept.push(name)
  }
  const result = kept.reverse().join(' ')
  merged.set(classes, result)
  return result
}
