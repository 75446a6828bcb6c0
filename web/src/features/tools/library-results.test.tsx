import { render, screen } from '@testing-library/react'

import { loadTexts } from '~/i18n'
import { NoMatch } from './library-results'

beforeAll(() => loadTexts(['library']))

test.each([
  [{ q: 'zebra' }, /^No tool matches “zebra”\. Try/, 'Clear the search'],
  [{ level: 'write' }, /^No tool matches these filters/, 'Clear all filters'],
  [{ q: 'zebra', tag: 'x' }, /“zebra” with these filters/, 'Clear search and filters'],
] as const)('%o finds nothing, and is what the text is about', (search, text, button) => {
  render(<NoMatch search={search} onClear={vi.fn()} />)
  expect(screen.getByText(text)).toBeInTheDocument()
  expect(screen.getByRole('button', { name: button })).toBeInTheDocument()
})
