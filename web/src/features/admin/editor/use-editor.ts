import { useEffect, useEffectEvent, useMemo, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { type Fault, Problem } from '~/api/problem'
import { toolChanged, toolOf } from '../queries'
import type { Step } from '~/features/form/schema/pointer'
import type { Tool } from '../types'
import {
  BLANK,
  bodyOf,
  changedKeys,
  changesOf,
  type Definition,
  fromTool,
  type Key,
  inOrderOfPage,
  partOf,
} from './definition'
import {
  apart,
  isBelow,
  type KindParts,
  partsOfKind,
  pathOf,
  putAt,
  timeoutFor,
  type Unread,
  withoutBelow,
} from './inside'

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
  // What cannot be read yet, by its place. It stays as it was typed, and keeps the rest from being saved.
  const [unread, setUnread] = useState<Record<string, Unread>>({})
  // What was typed for other kinds, should somebody go back to one.
  const [others, setOthers] = useState<Record<string, OtherKind>>({})
  // What has no control at the moment, by its place, should somebody choose again what has it.
  const [aside, setAside] = useState<Record<string, Aside>>({})
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
    setAside((now) => withoutBelow(now, `/${key}`))
    setFaults((now) => now.filter(({ path }) => partOf(path) !== key))
  }

  /** Puts something at a place inside of a part; `undefined` takes it out. */
  const changeAt = (key: Inside, steps: Step[], value: unknown) => {
    setDefinition((now) => ({ ...now, [key]: putAt(now[key] ?? {}, steps, value) }))
    const place = pathOf(key, steps)
    setFaults((now) => now.filter(({ path }) => !isBelow(path, place)))
  }

  /** Keeps what cannot be read at a place as it was typed; with nothing to keep there is nothing unread. */
  const keepUnread = (path: string, typed: Unread | undefined) =>
    setUnread((now) => {
      const { [path]: _, ...rest } = now
      return typed ? { ...rest, [path]: typed } : rest
    })

  /** Makes it another kind of tool. What the old kind was told stays for whoever comes back to it. */
  const changeKind = (kind: string) => {
    const { implementation_type: old, implementation, execution_spec } = definition
    if (kind === old) return
    const [rest, ofOld] = apart(unread)
    const { unread: back, ...parts } = others[kind] ?? { ...partsOfKind(kind, before), unread: {} }
    setOthers({ ...others, [old]: { implementation, execution_spec, unread: ofOld } })
    const timeout_ms = timeoutFor(kind, definition.timeout_ms, before.timeout_ms)
    setDefinition({ ...definition, implementation_type: kind, timeout_ms, ...parts })
    setUnread({ ...rest, ...back })
    setFaults((now) => now.filter(({ path }) => !KIND_PARTS.includes(partOf(path))))
  }

  /** Takes a tool as the server has it now, and forgets what was typed. */
  const reset = (tool: Tool) => {
    setBase(tool)
    setDefinition(fromTool(tool))
    setUnread({})
    setOthers({})
    setAside({})
    setFaults([])
    setProblem(undefined)
    setTheirs(undefined)
  }

  const save = async (publish: boolean, over?: Tool) => {
    if (busy) return
    const refuse = (faults: Fault[]) => {
      const told = faults.map((fault) => ({ ...fault, message: words(fault, definition) }))
      setFaults(inOrderOfPage(told))
      setRefusals((before) => before + 1)
    }
    setProblem(undefined)
    setFaults([])
    if (Object.keys(unread).length > 0) {
      refuse(Object.entries(unread).map(([path, { why }]) => ({ path, message: why })))
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
        if (cause instanceof Problem) refuse(cause.errors)
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
    changeAt,
    changeKind,
    unread,
    setUnread,
    keepUnread,
    aside,
    setAside,
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

/** The parts that say what is to run, and have an inside of their own. */
export type Inside = 'implementation' | 'execution_spec'
const KIND_PARTS = ['implementation_type', 'implementation', 'execution_spec']

/** A kind that the tool is not at the moment. */
interface OtherKind extends KindParts {
  unread: Record<string, Unread>
}

interface Aside {
  value: unknown
  unread?: Unread
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
