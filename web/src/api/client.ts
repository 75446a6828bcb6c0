import { QueryClient } from '@tanstack/react-query'
import createClient from 'openapi-fetch'

import { loadTexts } from '~/i18n'
import { parse, stringify } from './exact'
import { Problem } from './problem'
import type { paths } from './schema'

const client = createClient<paths>({ baseUrl: '/', bodySerializer: (body) => stringify(body) })

let shown: string | undefined

/**
 * Remembers which tenant this page shows. Every request says so, and the server refuses what would land in another
 * because somebody switched in the next tab.
 */
export function showTenant(slug: string | undefined) {
  shown = slug
}

client.use({
  onRequest({ request }) {
    if (shown) request.headers.set('x-toolwright-tenant', shown)
  },
  async onResponse({ response, schemaPath }) {
    if (!response.ok) throw await problemOf(response)
    // What somebody typed and did not send is not for whoever signs in next.
    if (schemaPath === '/api/auth/logout') sessionStorage.clear()
    return response.status === 204 ? undefined : readExactly(response)
  },
  onError({ error }) {
    return error instanceof Problem ? error : Problem.unreachable(error)
  },
})

/** A refusal, with the words for it: not every page has them from the start. */
async function problemOf(response: Response): Promise<Problem> {
  const texts = loadTexts(['server']).catch(() => undefined)
  const [problem] = await Promise.all([Problem.of(response), texts])
  return problem
}

/** A request as the page makes it, whose answer is for whoever shows it: nothing of it is thrown or read. */
export function fetchAsPage(path: string, request: RequestInit): Promise<Response> {
  const headers = new Headers(request.headers)
  if (shown) headers.set('x-toolwright-tenant', shown)
  return fetch(path, { ...request, headers })
}

/** A success whose body is read without rounding its numbers. */
async function readExactly(response: Response): Promise<Response> {
  const text = await response.text()
  const headers = new Headers(response.headers)
  // Without a length the client would read the text by itself.
  headers.set('content-length', String(text.length))
  const answer = new Response(null, { status: response.status, headers })
  return Object.assign(answer, { json: async () => parse(text) })
}

/** The public API, as the server describes it. Every answer that is not a success is thrown as a `Problem`. */
export const api = client

/** The body of a success. `openapi-fetch` cannot know that failures are thrown. */
export async function body<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Browsers tell of the internet, and the server may be in the same house: whether it answers, asking tells.
      networkMode: 'always',
      staleTime: 5_000,
      // What was refused stays refused; only a server that cannot be reached is asked again.
      retry: (count, error) => error instanceof Problem && error.status === 0 && count < 3,
    },
    mutations: { networkMode: 'always' },
  },
})
