import { useEffect, useMemo, useState } from 'react'

import type { Fault } from '~/api/problem'
import { useLocale, useTranslation } from '~/i18n'
import type { Complaint } from './check/complaints'
import { placed, said } from './faults'
import type { FormModel } from './model'
import { same } from './schema/json'
import { at, pointer, steps } from './schema/pointer'

const NONE: Fault[] = []

/**
 * What is wrong, and how much of it is shown: before the first try only what was typed wrongly in
 * fields that were left, afterwards everything.
 */
export function useFaults(
  id: string,
  model: FormModel,
  draft: unknown,
  sent: unknown,
  given: Fault[] = NONE,
) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const [tries, setTries] = useState(0)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  // Who has no faults may make a new empty list at every turn.
  const served = given.length === 0 ? NONE : given
  const [answer, setAnswer] = useState({ served, about: sent })
  if (answer.served !== served) {
    setAnswer({ served, about: sent })
    if (served.length > 0) setTries(tries + 1)
  }

  const complaints = useMemo(() => model.complaints(sent), [model, sent])
  const found = useMemo(() => {
    const own = complaints.map((complaint) => said(complaint, t, locale))
    const still = answer.served.filter(({ path }) => {
      const place = steps(path)
      return (
        same(at(sent, place), at(answer.about, place)) && !own.some((fault) => fault.path === path)
      )
    })
    const all = [...own, ...still]
    const wrong = complaints.filter((complaint) => isTouched(complaint, id, model, draft, touched))
    const shown =
      tries > 0 ? all : [...wrong.map((complaint) => said(complaint, t, locale)), ...still]
    return { all, shown, ...placed(shown, model, draft) }
  }, [complaints, answer, sent, draft, touched, tries, id, model, t, locale])

  useEffect(() => {
    if (tries > 0) focusFirst(id)
  }, [tries, id])

  return {
    ...found,
    touch: (field: string) =>
      setTouched((before) => (before.has(field) ? before : new Set(before).add(field))),
    /** Shows everything that is wrong, and says whether nothing is. */
    attempt: () => {
      if (complaints.length === 0) return true
      setTries((before) => before + 1)
      return false
    },
  }
}

/** Whether a field was left with something wrong in it. That it is empty is said when it matters. */
function isTouched(
  { path, key }: Complaint,
  id: string,
  model: FormModel,
  draft: unknown,
  touched: ReadonlySet<string>,
): boolean {
  if (key === 'required' || touched.size === 0) return false
  const field = model.fieldOf(path, draft)
  return touched.has([id, ...field].join('.')) && pointer(field) !== ''
}

/** Brings the keyboard to the first thing that is wrong, also out of a section that is closed. */
function focusFirst(id: string) {
  const invalid = document.querySelectorAll<HTMLElement>('[aria-invalid="true"]')
  const first = [...invalid].find(
    (element) => element.id.startsWith(id) || element.closest(`[data-form="${id}"]`),
  )
  for (
    let around = first?.closest('details');
    around;
    around = around.parentElement?.closest('details')
  ) {
    around.open = true
  }
  first?.focus()
}
