import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { hasEnded, runOf } from '~/api/runs'
import type { Answer } from './queries'
import { useLiveText } from '~/features/result/live-text'

/**
 * The run that the page shows, by the id in its address, so that a reload and a restart of the server
 * find it again. `started` is the answer of the call, which is there before the run is read.
 */
export function useShownRun(id: string | undefined, slug: string) {
  const [started, setStarted] = useState<Answer>()
  const query = useQuery({ ...runOf(id ?? ''), enabled: id !== undefined })
  const read = id && query.data?.run_id === id ? query.data : undefined
  const run = read ?? (started?.run_id === id ? started : undefined)
  const open = run !== undefined && !hasEnded(run.status)
  const text = useLiveText(open ? run : undefined)
  return {
    run: run?.tool === slug ? run : undefined,
    /** A run of another tool has nothing to say here. */
    foreign: run !== undefined && run.tool !== slug,
    record: read?.tool === slug ? read : undefined,
    open,
    text,
    /** The server does not answer, and is asked again. */
    lost: open && query.failureCount > 0,
    error: run ? undefined : query.error,
    retry: () => void query.refetch(),
    show: setStarted,
  }
}
