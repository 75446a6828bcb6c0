import { render } from '@testing-library/react'

import { usePageName, useTitle } from './title'

function Frame({ page, thing }: { page?: string; thing?: string | null }) {
  useTitle(page)
  return thing === null ? null : <Thing name={thing} />
}

function Thing({ name }: { name?: string }) {
  usePageName(name)
  return null
}

test('the window is named after the page, and after what the page shows once that is known', () => {
  const { rerender } = render(<Frame page="Tool" thing={undefined} />)
  expect(document.title).toBe('Tool · Toolwright')
  rerender(<Frame page="Tool" thing="Quick Score" />)
  expect(document.title).toBe('Quick Score · Toolwright')
  // On the next page the name of the last one is gone.
  rerender(<Frame page="Runs" thing={null} />)
  expect(document.title).toBe('Runs · Toolwright')
  rerender(<Frame thing={null} />)
  expect(document.title).toBe('Toolwright')
})
