import { useEffectEvent, useLayoutEffect, useState } from 'react'

import { api, body, queryClient } from '~/api/client'
import { type Fault, Problem } from '~/api/problem'
import { keepWarnings, toolChanged, toolOf } from '../queries'
import type { Tool } from '../types'
import { bodyOf, changesOf, type Definition, fromTool, inOrderOfPage } from './definition'
import type { Typed } from './use-typed'

export interface SavingOptions {
  /** What a fault is in the person's language. */
  words: (fault: Fault, definition: Definition) => string
  onSaved: (tool: Tool, isPublishing: boolean) => void
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
    if (error instanceof Problem && error.status === 412 && on) {
      setTheirs(await current(on.slug))
    } else {
      setProblem(error)
      if (error instanceof Problem) refuse(error.errors)
    }
  }

  /** Saves what is typed as a draft. Whoever wants to publish it decides on that next. */
  const save = async (isPublishing: boolean, over?: Tool) => {
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
        ? await update(on, before, definition)
        : keepWarnings(await body(api.POST('/api/tools', { body: bodyOf(definition) })))
      setBase(saved)
      setTheirs(undefined)
      // Whatever was typed meanwhile is a change of what was saved.
      setDefinition((now) => (now === definition ? fromTool(saved) : now))
      queryClient.setQueryData(toolOf(saved.slug).queryKey, saved)
      onSaved(saved, isPublishing)
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

async function update(on: Tool, before: Definition, after: Definition): Promise<Tool> {
  const changes = changesOf(before, after)
  if (Object.keys(changes).length === 0) return on
  const params = { path: { tool: on.slug }, header: { 'If-Match': on.etag } }
  return keepWarnings(await body(api.PATCH('/api/tools/{tool}', { params, body: changes })))
}

function current(slug: string): Promise<Tool> {
  return queryClient.fetchQuery({ ...toolOf(slug), staleTime: 0 })
}
