'use client'
import { MantineProvider } from '@mantine/core'
import { type ReactNode, useLayoutEffect } from 'react'
import { guardKeys } from './_ui/keys'
import { NetworkNotice } from './_ui/network-notice'
import { cssVariables, theme } from './theme'

/** A client component, because a theme contains functions, which cannot be passed from the server. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  // Runs before the effects in which screens listen for keys.
  useLayoutEffect(guardKeys, [])
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      {children}
      <NetworkNotice />
    </MantineProvider>
  )
}
