import { useEffectEvent, useLayoutEffect, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { type Fault, Problem } from '~/api/problem'
import { toolChanged, toolOf } from '../queries'
import type { Tool } from '../types'
import { bodyOf, changesOf, type Definition, fromTool, inOrderOfPage } from './definition'
import type { Typed } from './use-typed'

export interface SavingOptions {
  /** What a fault is in the person's language. */
  words: (fault: Fault, definition: Definition) => string
  onSaved: (tool: Tool, published: boolean) => void
}

/** How what is typed gets to the server, by button or by key, and what came of it. */
export function useSaving(typed: Typed, { words, onSaved }: SavingOptions) {
  const { base, before, definition, unread, isDirty, setBase, setDefinition, setFaults } = typed
  const [problem, setProblem] = useState<unknown>()
  const [theirs, setTheirs] = useState<Tool>()
  const [busy, setBusy] = useState(false)
  // How often something kept it from being saved.
  const [refusals, setRefusals] = useState(0)

  const refuse = (faults: Fault[]) => {
    const told = faults.map((fault) => ({ ...fault, message: words(fault, definition) }))
    setFaults(inOrderOfPage(told))
    setRefusals((before) => before + 1)
  }

  const fail = async (error: unknown, on: Tool | undefined) => {
    if (error instanceof Halfway) setBase(error.saved)
    const cause = error instanceof Halfway ? error.cause : error
    if (cause instanceof Problem && cause.status === 412 && on) {
      setTheirs(await current(on.slug))
    } else {
      setProblem(cause)
      if (cause instanceof Problem) refuse(cause.errors)
    }
  }

  const save = async (publish: boolean, over?: Tool) => {
    if (busy) return
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
      await fail(error, on)
    } finally {
      setBusy(false)
    }
  }

  useSaveKey(() => {
    if (isDirty) void save(false)
  })

  /** Takes a tool as the server has it now, and forgets what was typed. */
  const reset = (tool: Tool) => {
    typed.reset(tool)
    setProblem(undefined)
    setTheirs(undefined)
  }
  const keepEditing = () => setTheirs(undefined)
  return { problem, theirs, busy, refusals, save, reset, keepEditing }
}

/** Saves by the key that saves everywhere. */
function useSaveKey(save: () => void) {
  const saveByKey = useEffectEvent((event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's') return
    event.preventDefault()
    save()
  })
  // With the first sight of the page: a key that is pressed at once must not be lost.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => saveByKey(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

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
    return await body(api.POST('/api/tools/{tool}/publish', { params, body: {} }))
  } catch (error) {
    throw new Halfway(saved, error)
  }
}

function current(slug: string): Promise<Tool> {
  return queryClient.fetchQuery({ ...toolOf(slug), staleTime: 0 })
}
