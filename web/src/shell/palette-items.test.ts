import { type Group, matching } from './palette-items'

const TOOLS: Group = {
  name: 'tools',
  targets: [
    { id: '1', label: 'Quick Score', hint: 'quick-score', href: '/tools/quick-score' },
    { id: '2', label: 'ROI Calculator', hint: 'roi-calculator', href: '/tools/roi-calculator' },
    { id: '3', label: 'Calculator', hint: 'calc', href: '/tools/calc' },
  ],
}
const found = (typed: string) => matching(TOOLS, typed).targets.map(({ label }) => label)

test('every word counts, in the label or beside it, and what begins so comes first', () => {
  expect(found('')).toHaveLength(3)
  expect(found('calc')).toEqual(['Calculator', 'ROI Calculator'])
  expect(found('calculator ROI')).toEqual(['ROI Calculator'])
  expect(found('quick-')).toEqual(['Quick Score'])
  expect(found('nothing')).toEqual([])
})

test('no more is offered than can be seen at a glance', () => {
  const targets = Array.from({ length: 50 }, (_, index) => ({
    id: `${index}`,
    label: `Tool ${index}`,
    href: '/',
  }))
  expect(matching({ name: 'tools', targets }, 'tool').targets).toHaveLength(8)
})
