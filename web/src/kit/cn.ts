import { type ClassValue, clsx } from 'clsx'

import { mergeClasses } from './merge-classes'

/** Joins class names; of two that contradict each other the later one counts. */
export function cn(...classes: ClassValue[]): string {
  return mergeClasses(clsx(classes))
}
