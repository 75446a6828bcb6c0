import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { IconPart } from './icon-part'
import { iconsFor } from './icon-search'
import { renderInEditor } from './in-editor'

const LATE = { timeout: 20_000 }

// The real list takes seconds to be made; the browser tests have it.
vi.mock('virtual:icons/names', () => ({ default: ['mail', 'rocket space', 'mailbox'] }))

test('an icon is found by its words, and by a name that it had before', () => {
  const all = ['house home', 'house-plus', 'greenhouse', 'mail-open', 'mail']
  expect(iconsFor(all, 'home', [])).toEqual(['house'])
  expect(iconsFor(all, 'House', [])).toEqual(['house', 'house-plus', 'greenhouse'])
  expect(iconsFor(all, 'open mail', [])).toEqual(['mail-open'])
  expect(iconsFor(all, ' ', ['mail'])).toEqual([
    'mail',
    'house',
    'house-plus',
    'greenhouse',
    'mail-open',
  ])
  expect(iconsFor(all, 'nothing', [])).toEqual([])
})

test('an icon is chosen by keyboard', async () => {
  const user = userEvent.setup()
  const { now } = renderInEditor(<IconPart />, { icon: 'wrench' })
  await user.click(screen.getByRole('button', { name: 'Icon' }))
  const search = await screen.findByRole('combobox', { name: 'Search icons' }, LATE)
  expect(search).toHaveFocus()
  await user.type(search, 'space{Enter}')
  expect(now().definition.icon).toBe('rocket')
  expect(screen.queryByRole('dialog')).toBeNull()
  await user.click(screen.getByRole('button', { name: 'Icon' }))
  const again = await screen.findByRole('combobox', { name: 'Search icons' }, LATE)
  await user.type(again, 'mail{ArrowDown}{ArrowUp}{ArrowDown}')
  const options = within(screen.getByRole('listbox')).getAllByRole('option')
  expect(options.map(({ textContent }) => textContent)).toEqual(['mail', 'mailbox'])
  expect(again).toHaveAttribute('aria-activedescendant', options[1]?.id)
})

test('a name that is no icon says so', async () => {
  renderInEditor(<IconPart />, { icon: 'no-such-thing' })
  await screen.findByText(/No icon is called “no-such-thing”/, {}, LATE)
}, 60_000)
