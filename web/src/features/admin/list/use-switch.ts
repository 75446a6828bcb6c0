import { type InfiniteData, useMutation } from '@tanstack/react-query'

import { api, body, queryClient } from '~/api/client'
import type { components } from '~/api/schema'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { toast } from '~/kit/toast'
import { TOOLS, toolChanged } from '../queries'
import type { Tool, ToolItem } from '../types'

type Pages = InfiniteData<components['schemas']['List_ToolItem']>

export type SwitchName = 'enabled' | 'is_active'

interface Flip {
  tool: ToolItem
  name: SwitchName
  on: boolean
  /** What takes it back when it is a tool of the program: nothing laid over it, as before. */
  isUndo?: boolean
}

/** Turns a switch of a tool at once, takes it back when the server refuses, and offers to undo it. */
export function useSwitch() {
  const { t } = useTranslation('admin')
  const flip = useMutation({
    mutationFn: ({ tool, name, on, isUndo }: Flip) => {
      const value = isUndo && tool.kind === 'code' ? null : on
      const params = { path: { tool: tool.slug } }
      return body(api.PATCH('/api/tools/{tool}', { params, body: { [name]: value } }))
    },
    onMutate: async ({ tool, name, on }) => {
      await queryClient.cancelQueries({ queryKey: TOOLS })
      const before = queryClient.getQueriesData<Pages>({ queryKey: TOOLS })
      put(tool.slug, { [name]: on })
      return before
    },
    onSuccess: (saved, { tool, name, on, isUndo }) => {
      // With its new mark: a publication at once must not be taken for one of somebody who has read an older tool.
      put(tool.slug, { [name]: on, etag: saved.etag, revision: saved.revision })
      const undo = () => flip.mutate({ tool, name, on: !on, isUndo: true })
      const text = t(`switch.${name}_${on ? 'on' : 'off'}`, { name: tool.name })
      toast(text, 'good', isUndo ? undefined : { label: t('switch.undo'), run: undo })
    },
    onError: (error, _, before) => {
      for (const [key, data] of before ?? []) queryClient.setQueryData(key, data)
      toast(errorWords(error), 'bad')
    },
    onSettled: (_, __, { tool }) => toolChanged(tool.slug),
  })
  return (tool: ToolItem, name: SwitchName, on: boolean) => flip.mutate({ tool, name, on })
}

/** Lays what is known of a tool over what the page has read. */
function put(slug: string, known: Partial<Tool>) {
  const changed = <T extends ToolItem>(tool: T): T =>
    tool.slug === slug ? { ...tool, ...known } : tool
  queryClient.setQueriesData<Pages>({ queryKey: TOOLS }, (data) =>
    data
      ? {
          ...data,
          pages: data.pages.map((page) => ({ ...page, items: page.items.map(changed) })),
        }
      : data,
  )
  queryClient.setQueryData<Tool>(['admin', 'tool', slug], (tool) => tool && changed(tool))
}
