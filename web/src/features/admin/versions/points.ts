import type { Tool, Version } from '../types'

/** Something that can be compared: what runs, what was saved last, or a version by its number. */
export interface Point {
  /** What the server calls it. */
  name: string
  revision: number
}

/** What a tool's history offers to compare. A number stands for what it said last. */
export function pointsOf(tool: Pick<Tool, 'revision'>, entries: Version[]): Point[] {
  const points: Point[] = [{ name: 'draft', revision: tool.revision }]
  const live = entries.find(({ kind }) => kind === 'publish')
  if (live) points.push({ name: 'live', revision: live.revision })
  for (const { kind, version, revision } of entries) {
    const isKnown = points.some(({ name }) => name === version)
    if (kind !== 'save' && !isKnown) points.push({ name: version, revision })
  }
  return points
}
