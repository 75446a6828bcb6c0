import { syntaxTree } from '@codemirror/language'
import { RangeSetBuilder } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'

const MARKS: Record<string, Decoration> = {
  PropertyName: Decoration.mark({ class: 'cm-name' }),
  String: Decoration.mark({ class: 'cm-text' }),
  Number: Decoration.mark({ class: 'cm-literal' }),
  True: Decoration.mark({ class: 'cm-literal' }),
  False: Decoration.mark({ class: 'cm-literal' }),
  Null: Decoration.mark({ class: 'cm-literal' }),
}

/** Marks what is in sight. */
function marks(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => {
        const mark = MARKS[node.name]
        if (mark) builder.add(node.from, node.to, mark)
      },
    })
  }
  return builder.finish()
}

const plugin = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = marks(view)
    }
    update(update: ViewUpdate) {
      const parsed = syntaxTree(update.startState) !== syntaxTree(update.state)
      if (update.docChanged || update.viewportChanged || parsed)
        this.decorations = marks(update.view)
    }
  },
  { decorations: (value) => value.decorations },
)

/** JSON in the colours of the page, which are light and dark with it. */
export const colours = [
  plugin,
  EditorView.theme({
    '.cm-name': { color: 'var(--accent)' },
    '.cm-text': { color: 'var(--good)' },
    '.cm-literal': { color: 'var(--warn)' },
  }),
]
