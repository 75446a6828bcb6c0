import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'

import { knownFields } from './known-fields'

const OTHERS: Completion[] = [
  { label: 'ctx.callTool', apply: "ctx.callTool('', {})", type: 'function' },
  { label: 'console.log', apply: 'console.log()', type: 'function' },
  { label: 'input', type: 'variable' },
]

/** What can stand behind `input.`, by the schema of the tool, and what a script finds beside its input. */
export function completions(schemaNow: () => unknown) {
  return (context: CompletionContext): CompletionResult | null => {
    const path = context.matchBefore(/\binput(?:\??\.[\w$]*|\[\d+\])+$/)
    if (path) {
      const typed = path.text.split('.').at(-1) ?? ''
      const options = membersAt(schemaNow(), path.text.slice(0, -typed.length || undefined))
      return { from: context.pos - typed.length, options, validFor: /^[\w$]*$/ }
    }
    const word = context.matchBefore(/[\w$.]+$/)
    if (!word && !context.explicit) return null
    return { from: word?.from ?? context.pos, options: OTHERS, validFor: /^[\w$.]*$/ }
  }
}

/** The members of a place such as `input.lines[0].`. */
export function membersAt(schema: unknown, place: string): Completion[] {
  const steps = [...place.matchAll(/[.[]([\w$]+)/g)].map(([, step]) => step)
  const names = knownFields(schema)
    .filter(({ path }) => path.length === steps.length + 1)
    .filter(({ path }) => steps.every((step, index) => String(path[index]) === step))
    .map(({ path }) => path.at(-1))
  return names
    .filter((name) => typeof name === 'string' && /^[A-Za-z_$][\w$]*$/.test(name))
    .map((name) => ({ label: String(name), type: 'property' }))
}
