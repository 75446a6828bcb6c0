import { render, waitFor } from '@testing-library/react'
import names from 'lucide-react/dynamicIconImports'

import { iconOf, ToolIcon } from './tool-icon'
import { TOOL_ICONS } from './tool-icons'

const LATE = { timeout: 20_000 }

test('every name of an icon leads to one', async () => {
  // Some letters do: a file for each letter is made in the same way.
  const all = Object.keys(names).filter((name) => /^[hwz]/.test(name))
  expect(all.length).toBeGreaterThan(100)
  const found = await Promise.all(all.map(iconOf))
  expect(all.filter((_, index) => !found[index])).toEqual([])
  expect(Object.keys(TOOL_ICONS).filter((name) => !(name in names))).toEqual([])
}, 30_000)

test.each(['icon', 'constructor', 'no-such-thing', ''])(
  '%j is no icon',
  async (name) => {
    expect(await iconOf(name)).toBeUndefined()
  },
  30_000,
)

test.each([
  ['anvil', 'lucide-anvil'],
  // A name that Lucide has given up.
  ['home', 'lucide-house'],
  ['no-such-thing', 'lucide-wrench'],
  ['Not A Name', 'lucide-wrench'],
  [null, 'lucide-wrench'],
  ['rocket', 'lucide-rocket'],
])(
  'the icon %j is drawn as %s',
  async (name, drawn) => {
    const { container } = render(<ToolIcon name={name} />)
    await waitFor(() => expect(container.querySelector('svg')).toHaveClass(drawn), LATE)
  },
  30_000,
)

test('nothing else is shown while an icon is on its way', async () => {
  const { container } = render(<ToolIcon name="anvil" />)
  expect(container.querySelector('svg')).toBeNull()
  await waitFor(() => expect(container.querySelector('svg')).not.toBeNull(), LATE)
})
