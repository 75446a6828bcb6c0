import type { Tool, Version } from '../types'

/** Something that can be compared: what runs, what was saved last, a version by its number, or a revision. */
export interface Point {
  /** What the server calls it. */
  name: string
  revision: number
}

/** A save of the history, and what was done with it later. */
export interface Save extends Point {
  version: string
  created_at: string
  published: boolean
}

export interface Points {
  /** What was saved last, and what runs. */
  now: Point[]
  /** Every number, for what it said last. */
  versions: Point[]
  /** Every revision, newest first. */
  saves: Save[]
}

/** What a tool's history offers to compare. */
export function pointsOf(tool: Pick<Tool, 'revision'>, entries: readonly Version[]): Points {
  const now: Point[] = [{ name: 'draft', revision: tool.revision }]
  const live = entries.find(({ kind }) => kind === 'publish')
  if (live) now.push({ name: 'live', revision: live.revision })
  const versions: Point[] = []
  const saves = new Map<number, Save>()
  for (const { kind, version, revision, created_at } of entries) {
    const isKnown = versions.some(({ name }) => name === version)
    if (kind !== 'save' && !isKnown) versions.push({ name: version, revision })
    // The newest entry about a revision has the number that it got last, the oldest the time of the save.
    const newer = saves.get(revision)
    const published = kind === 'publish' || newer?.published === true
    saves.set(revision, {
      name: String(revision),
      revision,
      version: newer?.version ?? version,
      created_at,
      published,
    })
  }
  return {
    now,
    versions,
    saves: [...saves.values()].toSorted((a, b) => b.revision - a.revision),
  }
}

/** The point of this name. A revision may be older than what was read of the history. */
export function pointOf({ now, versions, saves }: Points, name: string): Point | undefined {
  const found = [...now, ...versions, ...saves].find((point) => point.name === name)
  return found ?? (/^[1-9]\d{0,14}$/.test(name) ? { name, revision: Number(name) } : undefined)
}
