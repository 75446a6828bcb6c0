import { boxesOf, lanesOf } from './picture'

const SPEC = {
  kind: 'composition',
  steps: [
    { id: 'now', tool: 'weather.now', input: { city: '{{ input.city }}' } },
    {
      id: 'ask',
      tool: 'confirm',
      when: 'steps.now.output.temperature > 30',
      input: { question: 'In {{ input.city }}: {{ steps.now.output.temperature }}?' },
      on_error: 'continue',
    },
    { id: 'log', tool: 'log', input: { all: ['{{ steps["ask"].output }}', 'no steps.now here'] } },
  ],
  output: { sent: '{{ steps.now.output }}', later: '{{ steps.nobody.output }}' },
}

test('a composition is boxes in the order of its steps, with where their values come from', () => {
  expect(boxesOf(SPEC).map(({ is, id, from }) => [is, id, from])).toEqual([
    ['input', '', []],
    ['step', 'now', [0]],
    ['step', 'ask', [0, 1]],
    ['step', 'log', [2]],
    ['output', '', [1]],
  ])
  expect(boxesOf(SPEC)[2]).toMatchObject({
    step: 1,
    tool: 'confirm',
    when: 'steps.now.output.temperature > 30',
    onError: 'continue',
  })
})

test('without a mapping the last step is the output, and half a spec is drawn too', () => {
  expect(boxesOf({ steps: [{ id: 'a', tool: 'x' }] }).at(-1)?.from).toEqual([1])
  expect(boxesOf(null).map(({ is }) => is)).toEqual(['input', 'output'])
})

test('arrows that pass boxes do not cross one another', () => {
  const box = (from: number[]) => ({ is: 'step' as const, id: '', tool: '', from })
  expect(lanesOf([box([]), box([0]), box([0, 1]), box([1]), box([0])])).toEqual([
    { from: 0, to: 2, lane: 0 },
    { from: 1, to: 3, lane: 1 },
    { from: 0, to: 4, lane: 2 },
  ])
})
