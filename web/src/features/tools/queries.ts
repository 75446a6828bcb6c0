import { queryOptions } from '@tanstack/react-query'

import { api, body } from '~/api/client'
import type { Run } from '~/api/runs'
import type { components } from '~/api/schema'
import { translated } from '~/api/translated'
import { language } from '~/i18n'

export type Tool = components['schemas']['ToolView']
export type Answer = components['schemas']['RunAnswer']

/** A tool whole, with its schemas, in the language of the page. */
export const tool = (slug: string) =>
  queryOptions({
    queryKey: ['tools', 'whole', slug],
    queryFn: () => body(api.GET('/api/tools/{tool}', { params: { path: { tool: slug } } })),
    select: (tool) => translated(tool, language()),
    staleTime: 30_000,
  })

const NEWEST = 10

/** The newest runs of a tool that one may see. */
export const runsOfTool = (slug: string) =>
  queryOptions({
    queryKey: ['runs', 'of-tool', slug],
    queryFn: async () => {
      const query = { tool: slug, limit: NEWEST }
      const page = (await body(api.GET('/api/runs', { params: { query } }))) as unknown
      return page as { items: Run[]; next_cursor?: string | null }
    },
    staleTime: 0,
  })
