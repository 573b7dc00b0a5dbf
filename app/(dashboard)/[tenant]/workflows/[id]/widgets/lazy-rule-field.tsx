'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { ComponentProps } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { ExpressionInput } from './expression-input'

/** Only conditions and switches need it, so it is not part of the page's first load. */
export const LazyRuleField = dynamic<ComponentProps<typeof ExpressionInput>>(
  () => loadPart(() => import('./rule-field').then((module) => module.RuleField)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)
