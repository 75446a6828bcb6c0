import type { Operation } from './model'

/** What somebody has filled in: the parameters by place and name, and the body as text. */
export interface Filled {
  values: Record<string, string>
  body?: string
}

export interface Ready {
  method: string
  /** With the query. */
  path: string
  headers: Record<string, string>
  body?: string
}

export const keyOf = (parameter: { in: string; name: string }) =>
  `${parameter.in} ${parameter.name}`

/** The parameters that have to be filled in and are not. */
export function missingIn({ parameters }: Operation, { values }: Filled): string[] {
  return parameters
    .filter((parameter) => parameter.required || parameter.in === 'path')
    .map(keyOf)
    .filter((key) => !values[key])
}

/** The request, as it is sent. A parameter of the path that is not filled in stays as it is written. */
export function requestOf(operation: Operation, { values, body }: Filled): Ready {
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  let path = operation.path
  for (const parameter of operation.parameters) {
    const value = values[keyOf(parameter)]
    if (!value) continue
    if (parameter.in === 'path')
      path = path.replace(`{${parameter.name}}`, encodeURIComponent(value))
    if (parameter.in === 'query') query.append(parameter.name, value)
    if (parameter.in === 'header') headers[parameter.name] = value
  }
  const text = operation.body && body?.trim() ? body : undefined
  if (text !== undefined) headers['Content-Type'] = 'application/json'
  const search = query.size > 0 ? `?${query}` : ''
  return { method: operation.method.toUpperCase(), path: path + search, headers, body: text }
}

/** The same for a terminal. The key comes from the environment, so that it does not end up in a history. */
export function curlOf(operation: Operation, filled: Filled, origin: string): string {
  const { method, path, headers, body } = requestOf(operation, filled)
  const lines = [`curl -s${method === 'GET' ? '' : ` -X ${method}`} ${quoted(origin + path)}`]
  if (!operation.isOpen) lines.push('-H "Authorization: Bearer $TOOLWRIGHT_KEY"')
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== undefined) lines.push(`-d ${quoted(body)}`)
  return lines.join(' \\\n  ')
}

/** One word for a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
