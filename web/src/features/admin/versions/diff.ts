/** A line of two texts side by side; a missing side has no such line. */
export interface DiffRow {
  kind: 'same' | 'changed' | 'added' | 'removed' | 'gap'
  left?: Line
  right?: Line
  /** Of a gap: how many equal lines are left out. */
  count?: number
}

export interface Line {
  number: number
  text: string
}

// Beyond this many pairs of lines, texts are compared at their ends only.
const PAIRS_MAX = 4_000_000
const CONTEXT = 3

/** Two texts side by side, with lines that replace one another next to each other. */
export function sideBySide(before: string, after: string): DiffRow[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  const start = left.findIndex((line, index) => line !== right[index])
  const head = start < 0 ? Math.min(left.length, right.length) : start
  const longest = Math.min(left.length, right.length) - head
  let tail = 0
  while (tail < longest && left.at(-1 - tail) === right.at(-1 - tail)) tail++

  const rows: DiffRow[] = []
  let [l, r] = [0, 0]
  const same = (count: number) => {
    for (let n = 0; n < count; n++) {
      rows.push({ kind: 'same', left: at(left, l++), right: at(right, r++) })
    }
  }
  const replaced = (removed: number, added: number) => {
    for (let n = 0; n < Math.max(removed, added); n++) {
      const row: DiffRow = { kind: n >= removed ? 'added' : n >= added ? 'removed' : 'changed' }
      if (n < removed) row.left = at(left, l++)
      if (n < added) row.right = at(right, r++)
      rows.push(row)
    }
  }
  same(head)
  const [leftEnd, rightEnd] = [left.length - tail, right.length - tail]
  for (const [toLeft, toRight] of anchors(left.slice(head, leftEnd), right.slice(head, rightEnd))) {
    replaced(head + toLeft - l, head + toRight - r)
    same(1)
  }
  replaced(leftEnd - l, rightEnd - r)
  same(tail)
  return rows
}

function at(lines: string[], index: number): Line {
  return { number: index + 1, text: lines[index] ?? '' }
}

/** The pairs of lines of a longest common subsequence. */
function anchors(left: string[], right: string[]): [number, number][] {
  if (left.length * right.length > PAIRS_MAX) return []
  const width = right.length + 1
  const lengths = new Uint32Array((left.length + 1) * width)
  const length = (l: number, r: number) => lengths[l * width + r] ?? 0
  for (let l = left.length - 1; l >= 0; l--) {
    for (let r = right.length - 1; r >= 0; r--) {
      lengths[l * width + r] =
        left[l] === right[r]
          ? length(l + 1, r + 1) + 1
          : Math.max(length(l + 1, r), length(l, r + 1))
    }
  }
  const pairs: [number, number][] = []
  let [l, r] = [0, 0]
  while (l < left.length && r < right.length) {
    if (left[l] === right[r]) pairs.push([l++, r++])
    else if (length(l + 1, r) >= length(l, r + 1)) l++
    else r++
  }
  return pairs
}

/** The rows that changed, with a few around them; what is between is a gap. */
export function folded(rows: DiffRow[]): DiffRow[] {
  const isNear = (index: number) =>
    rows
      .slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1)
      .some(({ kind }) => kind !== 'same')
  const shown: DiffRow[] = []
  for (const [index, row] of rows.entries()) {
    const last = shown.at(-1)
    if (isNear(index)) shown.push(row)
    else if (last?.kind === 'gap') last.count = (last.count ?? 0) + 1
    else shown.push({ kind: 'gap', count: 1 })
  }
  return shown
}
