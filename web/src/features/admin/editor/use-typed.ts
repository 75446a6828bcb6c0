import { useMemo, useState } from 'react'

import type { Fault } from '~/api/problem'
import type { Step } from '~/features/form/schema/pointer'
import type { Tool } from '../types'
import { changedKeys, type Definition, fromTool, type Key, partOf } from './definition'
import {
  apart,
  blankOf,
  isBelow,
  type KindParts,
  partsOfKind,
  pathOf,
  putAt,
  timeoutFor,
  type Unread,
  withoutBelow,
} from './inside'
import { followed } from './slug'

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

/**
 * What is typed about a tool, and what is wrong with it. What was read is kept beside it, so that only changes are sent,
 * and so that nothing read later can take away what was typed. A new tool is of a kind from the start.
 */
export function useTyped(tool: Tool | undefined, kind = '') {
  const [base, setBase] = useState(tool)
  const [definition, setDefinition] = useState(() => (tool ? fromTool(tool) : blankOf(kind)))
  // What cannot be read yet, by its place. It stays as it was typed, and keeps the rest from being saved.
  const [unread, setUnread] = useState<Record<string, Unread>>({})
  // What was typed for other kinds, should somebody go back to one.
  const [others, setOthers] = useState<Record<string, OtherKind>>({})
  // What has no control at the moment, by its place, should somebody choose again what has it.
  const [aside, setAside] = useState<Record<string, Aside>>({})
  // What kept it from being saved. A fault goes when its place is changed.
  const [faults, setFaults] = useState<Fault[]>([])

  const before = useMemo(() => (base ? fromTool(base) : blankOf(kind)), [base, kind])
  const changed = useMemo(() => changedKeys(before, definition), [before, definition])
  const isDirty = changed.length > 0 || Object.keys(unread).length > 0
  const keepFaults = (stays: (path: string) => boolean) =>
    setFaults((now) => now.filter(({ path }) => stays(path)))

  const change = <K extends Key>(key: K, value: Definition[K]) => {
    setDefinition((now) => {
      const next = { ...now, [key]: value }
      return base || key !== 'name' ? next : { ...next, slug: followed(now, next.name) }
    })
    setAside((now) => withoutBelow(now, `/${key}`))
    const isFollowed =
      !base && key === 'name' && followed(definition, `${value}`) !== definition.slug
    keepFaults((path) => partOf(path) !== key && !(isFollowed && partOf(path) === 'slug'))
  }

  /** Puts something at a place inside of a part; `undefined` takes it out. */
  const changeAt = (key: Inside, steps: Step[], value: unknown) => {
    setDefinition((now) => ({ ...now, [key]: putAt(now[key] ?? {}, steps, value) }))
    keepFaults((path) => !isBelow(path, pathOf(key, steps)))
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
    keepFaults((path) => !KIND_PARTS.includes(partOf(path)))
  }

  /** Takes a tool as the server has it now, and forgets what was typed. */
  const reset = (tool: Tool) => {
    setBase(tool)
    setDefinition(fromTool(tool))
    setUnread({})
    setOthers({})
    setAside({})
    setFaults([])
  }

  const read = { base, before, definition, changed, isDirty, unread, aside, faults }
  const write = { change, changeAt, changeKind, keepUnread, setUnread, setAside }
  return { ...read, ...write, reset, setBase, setDefinition, setFaults }
}

export type Typed = ReturnType<typeof useTyped>
