// What is pressed on a page, and whether it and its neighbours stay where they are: for test_steady.py.
() => {
    const CONTROLS = 'button, summary, select, input, [role=tab], #code li.has';
    const GOES = '[data-turn=other], [data-do=up], [data-do=down], [data-do=duplicate], [data-do=remove], [data-do|=add], [data-do=show-error], #inspect .hint > .link, .earlier, #act-share, [data-act^=tour], [data-preset-cell=none], [data-preset=none], #command-pick';
    const rect = one => one.getBoundingClientRect();
    const middle = one => (r => [r.x + r.width / 2, r.y + r.height / 2])(rect(one));
    const whole = one => one.closest('label, .mantine-Input-wrapper, .mantine-Switch-root') ?? one;
    const shown = one => one.checkVisibility({ visibilityProperty: true });
    const isOver = (one, at) => whole(one).contains(document.elementFromPoint(...at));
    const kind = one => [one.tagName, one.className, one.dataset.do, one.dataset.act, one.dataset.turn].join(' ').replace(/ on\b/g, '');
    const key = one => one.id || [kind(one), one.dataset.id ?? (one.getAttribute('aria-label') || one.textContent.trim())].join(' ');
    const box = one => (r => [r.x, r.y, r.width, r.height].map(Math.round).join(' '))(rect(one));
    const top = where => Number(where.split(' ')[1]);
    const all = panel => [...document.querySelectorAll(panel)].flatMap(one => [...one.querySelectorAll(CONTROLS)]);
    let held = null;
    const next = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const coming = () => [...document.querySelectorAll('.skeleton, .figure:not(:has(.main-svg)), #inspect-figure:empty')].some(shown);
    const moving = () => document.getAnimations().some(one => one.playState === 'running' && one.effect.getTiming().iterations < 9);
    const steady = async () => {
        const end = performance.now() + 30000;
        for (let last = null, now = ''; now === null || now !== last;) {
            if (performance.now() > end) throw Error('the page does not come to rest');
            await next();
            last = now;
            now = document.documentElement.dataset.computing || coming() || moving() ? null : all('body').filter(shown).map(box).join();
        }
    };
    window.steadily = {
        steady,
        offers: panel => all(panel).some(shown),
        hold: async (panel, done) => {
            const one = all(panel).find(each => !each.disabled && !each.matches(GOES) && !done.includes(key(each)) && shown(each) && isOver(each, middle(each)));
            if (!one) return null;
            held = { panel, one, at: middle(one), kind: kind(one), boxes: new Map(all(panel).filter(shown).map(each => [key(each), box(each)])), open: one.ariaPressed ?? one.ariaExpanded };
            return { name: key(one), at: held.at };
        },
        moved: async () => {
            await steady();
            const now = new Map(all(held.panel).filter(shown).map(each => [key(each), box(each)]));
            const moved = [...held.boxes].filter(([each, where]) => (now.get(each) ?? where) !== where && !(held.one.matches('summary') && top(where) > held.at[1])).map(([each, where]) => `${each}: ${where} to ${now.get(each)}`);
            const over = document.elementFromPoint(...held.at);
            const under = over?.closest(CONTROLS);
            const closed = held.one.closest('.callout, .form, .bs-signs');
            const same = over?.matches('dialog') || (closed && !shown(closed)) || (held.one.isConnected ? isOver(held.one, held.at) : under && kind(under) === held.kind);
            return [same ? [] : [`under the pointer: ${(under ?? over)?.outerHTML ?? 'nothing'}`.slice(0, 150)], moved].flat();
        },
        toggled: () => held.one.isConnected && held.open !== null && (held.one.ariaPressed ?? held.one.ariaExpanded) !== held.open,
        inTheWay: () => [...document.querySelectorAll('dialog[open], [role=dialog], [role=menu]')].some(shown),
    };
}
