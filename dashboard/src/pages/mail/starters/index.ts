import { announce } from './announce.ts';
import { inform } from './inform.ts';
import type { Starter } from './parts.ts';
import { sell } from './sell.ts';
import { serve } from './serve.ts';

/** The layouts that a new email can begin with, by what the email is for. */
export const families: readonly { name: string; starters: readonly Starter[] }[] = [
  { name: 'Announce', starters: announce },
  { name: 'Sell', starters: sell },
  { name: 'Inform', starters: inform },
  { name: 'Serve', starters: serve },
];
