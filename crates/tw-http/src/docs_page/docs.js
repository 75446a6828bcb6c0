// Shows /api/openapi.json. Everything is put in as text, so nothing in the description can run.
'use strict'

const element = (name, text, className) => {
  const node = document.createElement(name)
  if (text !== undefined) node.textContent = text
  if (className) node.className = className
  return node
}

// An example of a schema, with references followed to a depth that ends.
const example = (api, schema, depth = 0) => {
  if (!schema || depth > 6) return null
  if (schema.$ref) return example(api, api.components.schemas[schema.$ref.split('/').pop()], depth + 1)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => example(api, part, depth + 1)))
  const choice = schema.oneOf || schema.anyOf
  if (choice) return example(api, choice.find((part) => part.type !== 'null'), depth + 1)
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  if (type === 'object') {
    const entries = Object.entries(schema.properties || {})
    return Object.fromEntries(entries.map(([name, part]) => [name, example(api, part, depth + 1)]))
  }
  if (type === 'array') return [example(api, schema.items, depth + 1)]
  return { string: schema.format || 'text', integer: 0, number: 0, boolean: true }[type] ?? null
}

const json = (value) => element('pre', JSON.stringify(value, null, 2))

const parameters = (operation) => {
  const table = element('table')
  for (const parameter of operation.parameters || []) {
    const row = table.insertRow()
    row.append(element('td', parameter.name), element('td', parameter.in), element('td', parameter.description || ''))
  }
  return table.rows.length ? [element('h4', 'Parameters'), table] : []
}

const bodies = (api, operation) => {
  const content = operation.requestBody?.content?.['application/json']
  const parts = content ? [element('h4', 'Body'), json(example(api, content.schema))] : []
  for (const [status, response] of Object.entries(operation.responses || {})) {
    parts.push(element('h4', `${status} ${response.description || ''}`))
    const schema = response.content?.['application/json']?.schema
    if (schema) parts.push(json(example(api, schema)))
  }
  return parts
}

const card = (api, method, path, operation) => {
  const details = element('details')
  const summary = element('summary')
  summary.append(element('span', method, 'method'), element('code', path), ` ${operation.summary || ''}`)
  details.append(summary, element('p', operation.description || ''), ...parameters(operation), ...bodies(api, operation))
  details.dataset.words = `${method} ${path} ${operation.summary || ''}`.toLowerCase()
  return details
}

const show = (api) => {
  document.getElementById('about').textContent = `${api.info.description} Version ${api.info.version}.`
  const groups = new Map()
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const tag = operation.tags?.[0] || 'other'
      if (!groups.has(tag)) groups.set(tag, [])
      groups.get(tag).push(card(api, method, path, operation))
    }
  }
  const main = document.getElementById('operations')
  for (const [tag, cards] of groups) main.append(element('h2', tag), ...cards)
  document.getElementById('filter').addEventListener('input', (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/)
    for (const details of main.querySelectorAll('details')) {
      details.hidden = !words.every((word) => details.dataset.words.includes(word))
    }
  })
}

fetch('/api/openapi.json')
  .then((response) => response.json())
  .then(show)
  .catch((error) => { document.getElementById('about').textContent = `The description cannot be read: ${error}` })
