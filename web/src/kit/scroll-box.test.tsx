import { fireEvent, render, screen } from '@testing-library/react'

import { ScrollBox } from './scroll-box'

test('the keyboard reaches it, and its edges show where there is more', () => {
  const { container } = render(
    <ScrollBox label="Prices">
      <table />
    </ScrollBox>,
  )
  const box = screen.getByRole('region', { name: 'Prices' })
  expect(box.tabIndex).toBe(0)
  const edges = () =>
    [...container.querySelectorAll<HTMLElement>('[data-edge]')].map(({ dataset }) => dataset.edge)
  expect(edges()).toEqual([])

  Object.defineProperties(box, { scrollWidth: { value: 900 }, clientWidth: { value: 300 } })
  fireEvent.scroll(box)
  expect(edges()).toEqual(['right'])
  box.scrollLeft = 200
  fireEvent.scroll(box)
  expect(edges()).toEqual(['left', 'right'])
})
