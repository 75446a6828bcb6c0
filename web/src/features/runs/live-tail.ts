import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent, useState } from 'react'

import type { Run } from '~/api/runs'
import { newestRuns } from './queries'
import type { RunsSearch } from './search'

/** Below this a person has scrolled away from the top, and reads. */
const TOP_PX = 80

export interface Tail {
  /** Newest first: what came since, as far as it was let in, and the list with each run as it is now. */
  rows: Run[]
  /** Which of them came since. */
  fresh: Set<string>
  /** How many wait to be let in. */
  held: number
  /** More came than were read, so the list has to be read anew. */
  gap: boolean
}

/** Puts the newest runs on top of a list. Ids begin with the time, so the larger is the newer. */
export function withTail(
  list: Run[],
  newest: { items: Run[]; next_cursor?: string | null } | undefined,
  letIn: string,
): Tail {
  if (!newest) return { rows: list, fresh: new Set(), held: 0, gap: false }
  const last = list[0]?.run_id ?? ''
  const came = newest.items.filter((run) => run.run_id > last)
  const gap = newest.next_cursor != null && list.length > 0 && came.length === newest.items.length
  const shown = gap ? [] : came.filter((run) => run.run_id <= letIn)
  const now = new Map(newest.items.map((run) => [run.run_id, run]))
  return {
    rows: [...shown, ...list.map((run) => now.get(run.run_id) ?? run)],
    fresh: new Set(shown.map((run) => run.run_id)),
    held: came.length - shown.length,
    gap,
  }
}

/**
 * The list with its live tail. New runs come in by themselves only while nobody reads: at the top of the
 * page, with neither pointer nor focus in the list. Otherwise they wait for `show`.
 */
export function useLiveTail(
  list: Run[],
  { live, ...filters }: RunsSearch,
  box: RefObject<HTMLElement | null>,
): Tail & { show: () => void } {
  const [letIn, setLetIn] = useState('')
  const { data } = useQuery({ ...newestRuns(filters), enabled: live === true })
  const newest = live ? data : undefined
  const top = newest?.items[0]?.run_id ?? ''
  const arrive = useEffectEvent((top: string) => {
    const reads = scrollY > TOP_PX || box.current?.matches(':hover, :focus-within')
    if (!reads) setLetIn(top)
  })
  useEffect(() => arrive(top), [top])
  return { ...withTail(list, newest, letIn), show: () => setLetIn(top) }
}
