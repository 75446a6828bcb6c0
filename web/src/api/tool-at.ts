import { queryOptions } from '@tanstack/react-query'

import { language } from '~/i18n'
import { api, body } from './client'
import { Problem } from './problem'
import type { components } from './schema'
import { translated } from './translated'

type Tool = components['schemas']['ToolView']

/**
 * A tool whole, as it was in a version, for its form and the way its outputs are shown. Authors read
 * what was saved last, which need not be what runs; the history has that. A test ran what was saved last.
 */
export const toolAt = (slug: string, version: string, mode = 'production') =>
  queryOptions({
    queryKey: ['tools', 'at', slug, version, mode],
    queryFn: async () => {
      const path = { tool: slug }
      const tool = await body(api.GET('/api/tools/{tool}', { params: { path } }))
      if (mode === 'debug' || (!tool.has_draft && tool.version === version)) return tool
      const revision = await publishedAs(slug, version)
      if (revision === undefined) return tool
      const params = { path: { tool: slug, revision } }
      const then = await body(api.GET('/api/tools/{tool}/versions/{revision}', { params }))
      const { name, i18n, input_schema, output_schema, form_spec, view_spec, output_sections } =
        then.snapshot as unknown as Tool
      const schemas = { input_schema, output_schema: output_schema ?? null }
      return { ...tool, name, i18n, ...schemas, form_spec, view_spec, output_sections }
    },
    select: (tool) => translated(tool, language()),
    staleTime: 30_000,
  })

/** A tool whole, as it is now. One that is gone or not for this person is nothing. */
export const toolNow = (slug: string) =>
  queryOptions({
    queryKey: ['tools', 'now', slug],
    queryFn: () => body(api.GET('/api/tools/{tool}', { params: { path: { tool: slug } } })),
    staleTime: 30_000,
  })

const NEWEST = 200

/** The revision that was last published under a version, if it is among the newest and can be read. */
async function publishedAs(slug: string, version: string): Promise<number | undefined> {
  const params = { path: { tool: slug }, query: { kind: 'publish', limit: NEWEST } } as const
  try {
    const { items } = await body(api.GET('/api/tools/{tool}/versions', { params }))
    return items.find((item) => item.version === version)?.revision
  } catch (error) {
    // Not everybody may read the history; the tool as it is has to do.
    if (error instanceof Problem && error.status >= 400 && error.status < 500) return undefined
    throw error
  }
}
