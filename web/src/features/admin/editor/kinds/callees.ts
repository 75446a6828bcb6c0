import { useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { toolOf } from '../../queries'
import type { Tool } from '../../types'
import { catalogue, lastOutput } from './queries'

const PAUSE_MS = 250

/** A text once a person pauses: not every letter is worth a question to the server. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** A tool that a step calls, and what it gave the last time. */
export interface Callee {
  tool: Tool
  output?: unknown
}

/** The tools that steps call, by slug, as far as there are such. What is half typed is no tool that could be asked for. */
export function useCallees(slugs: readonly string[]): Map<string, Callee> {
  const typed = [...new Set(slugs.filter(Boolean))].join('\n')
  const asked = useSettled(typed).split('\n').filter(Boolean)
  const found = useQueries({ queries: asked.map((slug) => catalogue(slug)) })
  const known = asked.filter((slug, index) =>
    found[index]?.data?.some((tool) => tool.slug === slug),
  )
  const tools = useQueries({
    queries: known.map((slug) => ({ ...toolOf(slug), staleTime: 30_000 })),
  })
  const outputs = useQueries({ queries: known.map((slug) => lastOutput(slug)) })
  return new Map(
    tools.flatMap(({ data }, index) => {
      const output = outputs[index]?.data ?? undefined
      return data ? [[data.slug, { tool: data, output }]] : []
    }),
  )
}
