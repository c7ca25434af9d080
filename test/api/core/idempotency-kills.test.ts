import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aKey, anAddress, type KeyedWorld, keyedWorld, one, three, track } from '../../support/idempotent-requests.ts';
import { isFull } from '../../support/long.ts';
import { type MortalApi, mortalApi } from '../../support/mortal-api.ts';

let world: KeyedWorld;
// Each moment costs two processes, and the kinds share what keeps them whole.
const keyed = isFull ? [track, three] : [three];
const shared = isFull ? [track, one] : [one];

beforeAll(async () => {
  world = await keyedWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a process that is killed', () => {
  test.each(keyed)('between any two steps of $name: the repetition finds it done or does it', async (kind) => {
    // The next process starts while this one is being killed.
    let next = mortalApi(world.settings);
    const outcomes: string[] = [];
    for (let moment = 0; ; moment++) {
      await using child: MortalApi = await next;
      next = mortalApi(world.settings);
      // What a process asks once, such as whose a key is, is in its memory then.
      expect((await world.ask(child.url, kind, anAddress(), aKey())).status).toBe(200);
      const address = anAddress();
      const key = aKey();
      await child.arm(moment);
      const answer = await world.ask(child.url, kind, address, key).catch(() => null);
      if (answer !== null) {
        expect(answer.status).toBe(200);
        await (await next)[Symbol.asyncDispose]();
        break;
      }
      await child.ended;
      const again = await world.ask(world.api.url, kind, address, key);
      if (again.status === 409) expect(again.body.error.details.originalStatusCode).toBe(200);
      else expect(again.status).toBe(200);
      expect(await kind.written(world.database, address), `killed at ${moment}, then ${again.status}`).toEqual(
        kind.expected,
      );
      outcomes.push(String(again.status));
      const third = await world.ask(world.api.url, kind, address, key);
      expect(third.status).toBe(409);
    }
    // begin, the key, the work, commit: two moments each.
    expect(outcomes.length).toBeGreaterThanOrEqual(8);
    expect(outcomes[0]).toBe('200');
    expect(outcomes.at(-1)).toBe('409');
  });

  test.each(shared)(
    'between any two steps of statements that requests share, for $name: each is written whole or not at all, and once if answered',
    async (kind) => {
      let next = mortalApi(world.settings);
      let cut = 0;
      for (let moment = 0; ; moment++) {
        await using child: MortalApi = await next;
        next = mortalApi(world.settings);
        expect((await world.ask(child.url, kind, anAddress(), null)).status).toBe(200);
        const addresses = Array.from({ length: 8 }, anAddress);
        await child.arm(moment);
        const answers = await Promise.all(
          addresses.map((address) => world.ask(child.url, kind, address, null).catch(() => null)),
        );
        const isWhole = answers.every((answer) => answer?.status === 200);
        if (!isWhole) await child.ended;
        for (const [place, address] of addresses.entries()) {
          const written = await kind.written(world.database, address);
          const allowed = answers[place]?.status === 200 ? [kind.expected] : [kind.expected, [0, 0]];
          expect(allowed, `killed at ${moment}`).toContainEqual(written);
        }
        if (isWhole) break;
        cut += 1;
      }
      await (await next)[Symbol.asyncDispose]();
      // On its way, and when its answer is there.
      expect(cut).toBeGreaterThanOrEqual(2);
    },
  );
});
