import { isObject, type Json, type JsonObject } from './json'

/** The member of an output in which what is no data stands beside it. */
const MEMBER = 'mcp_content'

/** What a browser draws from its bytes alone. A drawing in SVG is a document, and is not one of them. */
const DRAWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** Of a larger picture the bytes alone are shown. */
const LETTERS_MAX = 8_000_000

export interface Image {
  data: string
  type: string
}

/** An output without the blocks beside its data, and those that are no text. */
export function parted(output: unknown): { data: unknown; blocks: JsonObject[] } {
  if (!isObject(output) || !Object.hasOwn(output, MEMBER)) return { data: output, blocks: [] }
  const { [MEMBER]: blocks, ...data } = output
  if (!Array.isArray(blocks) || blocks.length === 0 || !blocks.every(isBlock)) {
    return { data: output, blocks: [] }
  }
  return { data, blocks: blocks.filter(({ type }) => type !== 'text') }
}

function isBlock(block: Json): block is JsonObject {
  return isObject(block) && typeof block.type === 'string'
}

/** The picture in a block, if it is one that can be drawn. */
export function imageOf({ type, data, mimeType }: JsonObject): Image | undefined {
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string') return undefined
  const kind = mimeType.trim().toLowerCase()
  return DRAWN.has(kind) && data.length <= LETTERS_MAX ? { data, type: kind } : undefined
}

/** The bytes of a picture; it throws where they are none. */
export function bytesOf({ data, type }: Image): Blob {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
  return new Blob([bytes], { type })
}
