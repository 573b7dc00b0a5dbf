'use client'
import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { cssVariables, theme } from './theme'

/** A client component, because a theme contains functions, which cannot be passed from the server. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      {children}
    </MantineProvider>
  )
}
