import { waitFor } from '@testing-library/dom'

import { focusAt } from './focus-at'

/** Draws a control, inside of another one or on the page. */
function draw(id: string, inside: Element = document.body): HTMLElement {
  const control = document.createElement('div')
  control.id = id
  control.tabIndex = -1
  inside.append(control)
  return control
}

beforeEach(() => document.body.replaceChildren())

test('the panel has the focus until its field is there, however late', async () => {
  const panel = draw('part-implementation')
  focusAt('/implementation/url')
  expect(panel).toHaveFocus()
  draw('part-implementation-method', panel)
  const field = draw('part-implementation-url', panel)
  await waitFor(() => expect(field).toHaveFocus())
})

test('a tab that is on its way is waited for', async () => {
  focusAt('/name')
  const field = draw('part-name')
  await waitFor(() => expect(field).toHaveFocus())
})

/** Draws a control, and resolves once everybody who looks for new ones has seen it. */
async function drawUnwanted(id: string) {
  const seen = new Promise((done) => {
    new MutationObserver(done).observe(document.body, { childList: true, subtree: true })
  })
  draw(id)
  await seen
}

test.each(['keydown', 'pointerdown'])('whoever has gone on by %s keeps the focus', async (act) => {
  const panel = draw('part-implementation')
  focusAt('/implementation/url')
  document.body.dispatchEvent(new Event(act, { bubbles: true }))
  await drawUnwanted('part-implementation-url')
  expect(panel).toHaveFocus()
})

test('a control that got the focus by other means keeps it', async () => {
  const other = draw('other')
  focusAt('/name')
  other.focus()
  await drawUnwanted('part-name')
  expect(other).toHaveFocus()
})
