import { createElement, useEffect, useRef, useState } from 'react';
import { BookOpen, MessageCircleQuestion } from 'lucide-react';

function Name({ row, open }) {
  if (!row.name) return null;
  if (!row.place) return <span className="rp-place">{row.name}</span>;
  const { path, line } = row.place;
  return <button className="rp-link rp-place" title={`${path}:${line}`} onClick={() => open(path, line)}>{row.name}</button>;
}

function Row({ row, current, separator, words, beside, open, ask }) {
  return (
    <li data-current={current || undefined}>
      <Name row={row} open={open} />
      {row.text && <span className="rp-overview-text" title={row.text}>{row.text}</span>}
      {row.places.length > 0 && (beside || !row.text) && (
        <span className="rp-overview-text">
          {row.places.map(([name, path, line, unsure], n) => (
            <span key={n}>{n > 0 && (unsure ? <span title={words.unsure}> ⇢ </span> : separator)}<button className="rp-link rp-place" title={`${path}:${line}`} onClick={() => open(path, line)}>{name}</button></span>
          ))}
        </span>
      )}
      {beside && row.about && <span className="rp-overview-about rp-muted rp-detail">{row.about}</span>}
      {row.ask && <button className="rp-button rp-overview-ask" aria-label={`${words.ask}: ${row.name}`} title={row.ask} onClick={() => ask(row.ask)}><MessageCircleQuestion size={13} /><span>{words.ask}</span></button>}
    </li>
  );
}

function Picture({ picture, ...rest }) {
  const inside = useRef(null);
  const [room, setRoom] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([{ contentRect }]) => setRoom(Math.floor(contentRect.width)));
    watch.observe(inside.current);
    return () => watch.disconnect();
  }, []);
  return <div ref={inside} className="rp-picture" data-part="picture" tabIndex={0}>{window.repopilotChart(createElement, window.repopilotFitted(picture, room), rest)}</div>;
}

function Section({ section, chosen, ...rest }) {
  const separator = section.part === 'flows' ? ' → ' : ', ';
  return (
    <section className="rp-overview-part" data-part={section.part}>
      <div role="heading" aria-level="3" className="rp-muted rp-detail">{section.title}</div>
      <ul>{section.rows.map((row, at) => <Row key={at} row={row} current={section.part === 'components' && at === chosen?.component} separator={separator} {...rest} />)}</ul>
    </section>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Overview = (window.repopilotOverview ||= function ({ props, callAction, sendUserMessage }) {
  const { words } = props;
  const [failed, setFailed] = useState('');
  const body = useRef(null);
  const [chosen, setChosen] = useState(null);
  const beside = props.part != null;
  useEffect(() => { setChosen({ component: props.component }); }, [props]);
  useEffect(() => {
    if (!beside) return;
    const part = body.current?.querySelector(`[data-part="${CSS.escape(props.part)}"]`);
    const row = body.current?.querySelector('[data-current]');
    const top = (row ?? part)?.offsetTop;
    body.current?.scrollTo({ top: top ? top - body.current.offsetTop - (row ? 40 : 0) : 0 });
    row?.querySelector('button')?.focus({ preventScroll: true });
  }, [props, chosen]);
  if (!props.sections) return null;
  const call = async (name, payload) => {
    const result = await callAction({ name, payload });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
  };
  const open = (path, line) => call('open_file', { path, line, key: props.source });
  const show = (part, component) => call('show_overview', { key: props.key, part, component });
  const choose = (box, number) => (beside ? setChosen({ component: number }) : show('components', number));
  const ask = (question) => {
    // On a narrow screen the panel covers the chat in which the answer appears.
    if (beside) document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    sendUserMessage(question);
  };
  const told = (
    <>
      {props.purpose && <p className="rp-overview-purpose">{props.purpose} {beside && props.place && <button className="rp-link rp-place" onClick={() => open(props.place.path, props.place.line)}>{props.place.path}</button>}</p>}
      {props.facts && <div className="rp-muted rp-detail">{props.facts}</div>}
      {failed && <div className="rp-error">{failed}</div>}
      {props.picture?.boxes && <Picture picture={props.picture} open={choose} label={words.picture} />}
      {props.sections.map((section) => <Section key={section.part} section={section} chosen={chosen} words={words} beside={beside} open={open} ask={ask} />)}
    </>
  );
  if (beside) {
    return (
      <section className="rp-code" role="region" aria-label={words.title}>
        <div className="rp-code-head"><strong>{props.name}</strong></div>
        <div ref={body} className="rp-code-scroll rp-overview" tabIndex={0}>{told}</div>
      </section>
    );
  }
  return (
    <section className={props.sections.length || props.purpose ? 'rp-overview rp-overview-card' : 'rp-overview'} aria-label={words.title}>
      {told}
      <div className="rp-row">
        {props.sections.length > 0 && <button className="rp-button" onClick={() => show('')}><BookOpen size={14} /> {words.more}</button>}
        {props.starters.map(([label, question, part]) => (
          <button key={label} className="rp-button rp-round" title={part ? '' : question} onClick={() => (part ? show(part) : sendUserMessage(question))}>{label}</button>
        ))}
      </div>
    </section>
  );
});

export default <Overview props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
