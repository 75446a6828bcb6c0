import { useQueries } from '@tanstack/react-query'

import type { components } from '~/api/schema'
import { toolAt } from '~/api/tool-at'

/** What an approval says of its tool: its name, and what its form calls the values. */
export type AskingTool = Pick<
  components['schemas']['ToolView'],
  'name' | 'input_schema' | 'form_spec'
>

interface Asking {
  tool: string
  version: string
}

const keyOf = ({ tool, version }: Asking) => `${tool}@${version}`

/** The tools that approvals are about, each read once, however many ask for it. */
export function useTools(asking: readonly Asking[]): (of: Asking) => AskingTool | undefined {
  const distinct = [...new Map(asking.map((one) => [keyOf(one), one])).values()]
  const read = useQueries({
    queries: distinct.map(({ tool, version }) => toolAt(tool, version)),
  })
  const tools = new Map(distinct.map((one, index) => [keyOf(one), read[index]?.data]))
  return (of) => tools.get(keyOf(of))
}
