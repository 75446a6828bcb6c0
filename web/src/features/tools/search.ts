import { stringify } from '~/api/exact'
import { oneOf, type Raw, text } from '~/api/search'

/** What the library shows. */
export interface LibrarySearch {
  q?: string
  category?: string
  origin?: string
  level?: string
  status?: string
  tag?: string
  view?: 'grid' | 'table'
  sort?: 'name' | 'recent'
}

export const librarySearch = (raw: Raw): LibrarySearch => ({
  q: text(raw, 'q'),
  category: text(raw, 'category'),
  origin: text(raw, 'origin'),
  level: text(raw, 'level'),
  status: text(raw, 'status'),
  tag: text(raw, 'tag'),
  view: oneOf(raw, 'view', ['grid', 'table']),
  sort: oneOf(raw, 'sort', ['name', 'recent']),
})

/** `input` prefills the form (JSON, for links that people share); `run` fills it from an old run. */
export interface ToolSearch {
  input?: string
  run?: string
}

export const toolSearch = (raw: Raw): ToolSearch => ({
  input: typeof raw.input === 'object' ? stringify(raw.input) : text(raw, 'input'),
  run: text(raw, 'run'),
})
