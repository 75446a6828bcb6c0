import { ensureSyntaxTree, type syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'

import { steps } from '../schema/pointer'

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode']

/** Where a place of the value stands in its text. What is not there is marked at what should hold it. */
export function locate(state: EditorState, path: string): { from: number; to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length)
  let node: SyntaxNode | null | undefined = tree?.topNode.firstChild
  let from = node?.from ?? 0
  let to = node?.to ?? 0
  for (const step of steps(path)) {
    const next: [SyntaxNode, SyntaxNode] | undefined = node ? child(state, node, step) : undefined
    if (!next) break
    ;[from, to] = [next[0].from, next[1].to]
    node = next[1]
  }
  // A whole object in red says nothing; its first line does.
  const line = state.doc.lineAt(from)
  return { from, to: Math.max(from, Math.min(to, line.to)) }
}

/** What is marked of a member, and its value. */
function child(
  state: EditorState,
  node: SyntaxNode,
  step: string,
): [SyntaxNode, SyntaxNode] | undefined {
  if (node.name === 'Array') {
    const items = children(node).filter(({ name }) => !['[', ']', ','].includes(name))
    const item = items[Number(step)]
    return item && [item, item]
  }
  for (const property of children(node).filter(({ name }) => name === 'Property')) {
    const [key, ...rest] = children(property)
    const value = rest.at(-1)
    if (key && value && read(state.sliceDoc(key.from, key.to)) === step) return [key, value]
  }
  return undefined
}

function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (let next = node.firstChild; next; next = next.nextSibling) found.push(next)
  return found
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
