import { useEffect, useEffectEvent, useMemo, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { type Fault, Problem } from '~/api/problem'
import { toolChanged, toolOf } from '../queries'
import type { Tool } from '../types'
import {
  BLANK,
  bodyOf,
  changedKeys,
  changesOf,
  type Definition,
  fromTool,
  type Key,
  partOf,
} from './definition'
import { faultsOf, NOT_JSON } from './fault-words'

interface Options {
  /** The tool that is edited; none while it is being made. */
  tool?: Tool
  /** What a fault is in the person's language. */
  words: (fault: Fault, definition: Definition) => string
  onSaved: (tool: Tool, published: boolean) => void
}

/**
 * What is typed about a tool, and how it gets to the server. What was read is kept beside it, so that only
 * changes are sent, and so that nothing read later can take away what was typed.
 */
export function useEditor({ tool, words, onSaved }: Options) {
  const [base, setBase] = useState(tool)
  const [definition, setDefinition] = useState(() => (tool ? fromTool(tool) : BLANK))
  // Text that is not JSON yet. It stays as it was typed, and keeps the rest from being saved.
  const [unread, setUnread] = useState<Partial<Record<Key, string>>>({})
  const [problem, setProblem] = useState<unknown>()
  const [faults, setFaults] = useState<Fault[]>([])
  const [theirs, setTheirs] = useState<Tool>()
  const [busy, setBusy] = useState(false)
  // How often something kept it from being saved.
  const [refusals, setRefusals] = useState(0)

  const before = useMemo(() => (base ? fromTool(base) : BLANK), [base])
  const changed = useMemo(() => changedKeys(before, definition), [before, definition])
  const isDirty = changed.length > 0 || Object.keys(unread).length > 0

  const change = <K extends Key>(key: K, value: Definition[K]) => {
    setDefinition((now) => ({ ...now, [key]: value }))
    setFaults((now) => now.filter(({ path }) => partOf(path) !== key))
  }

  /** Takes a tool as the server has it now, and forgets what was typed. */
  const reset = (tool: Tool) => {
    setBase(tool)
    setDefinition(fromTool(tool))
    setUnread({})
    setFaults([])
    setProblem(undefined)
    setTheirs(undefined)
  }

  const save = async (publish: boolean, over?: Tool) => {
    if (busy) return
    const refuse = (faults: Fault[]) => {
      setFaults(faults.map((fault) => ({ ...fault, message: words(fault, definition) })))
      setRefusals((before) => before + 1)
    }
    setProblem(undefined)
    setFaults([])
    if (Object.keys(unread).length > 0) {
      refuse(Object.keys(unread).map((key) => ({ path: `/${key}`, message: NOT_JSON })))
      return
    }
    setBusy(true)
    const on = over ?? base
    try {
      const saved = on
        ? await update(on, before, definition, publish)
        : await create(definition, publish)
      setBase(saved)
      setTheirs(undefined)
      // Whatever was typed meanwhile is a change of what was saved.
      setDefinition((now) => (now === definition ? fromTool(saved) : now))
      queryClient.setQueryData(toolOf(saved.slug).queryKey, saved)
      onSaved(saved, publish)
      void toolChanged(saved.slug)
    } catch (error) {
      if (error instanceof Halfway) setBase(error.saved)
      const cause = error instanceof Halfway ? error.cause : error
      if (cause instanceof Problem && cause.status === 412 && on) {
        setTheirs(await current(on.slug))
      } else {
        setProblem(cause)
        if (cause instanceof Problem) refuse(faultsOf(cause))
      }
    } finally {
      setBusy(false)
    }
  }

  const saveByKey = useEffectEvent((event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    if (isDirty) void save(false)
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => saveByKey(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])

  return {
    base,
    before,
    definition,
    changed,
    change,
    unread,
    setUnread,
    faults,
    refusals,
    problem,
    theirs,
    keepEditing: () => setTheirs(undefined),
    isDirty,
    busy,
    save,
    reset,
  }
}

export type Editor = ReturnType<typeof useEditor>

/** The change was saved, and then publishing it failed. */
class Halfway extends Error {
  constructor(
    readonly saved: Tool,
    override readonly cause: unknown,
  ) {
    super('saved, not published')
  }
}

async function create(definition: Definition, publish: boolean): Promise<Tool> {
  return body(api.POST('/api/tools', { body: { ...bodyOf(definition), publish } }))
}

async function update(
  on: Tool,
  before: Definition,
  after: Definition,
  publish: boolean,
): Promise<Tool> {
  let saved = on
  const changes = changesOf(before, after)
  if (Object.keys(changes).length > 0) {
    const params = { path: { tool: on.slug }, header: { 'If-Match': on.etag } }
    saved = await body(api.PATCH('/api/tools/{tool}', { params, body: changes }))
  }
  if (!publish) return saved
  try {
    const params = { path: { tool: on.slug }, header: { 'If-Match': saved.etag } }
    return await body(api.POST('/api/tools/{tool}/publish', { params }))
  } catch (error) {
    throw new Halfway(saved, error)
  }
}

function current(slug: string): Promise<Tool> {
  return queryClient.fetchQuery({ ...toolOf(slug), staleTime: 0 })
}
